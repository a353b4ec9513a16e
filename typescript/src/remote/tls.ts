import type { RemoteTls } from './native.ts'
import { refused } from './refused.ts'

/** What a client's TLS options say. */
export type TlsOptions = Readonly<Record<string, unknown>>

/** Options that change whom the connection trusts, or who it is, and have no native form. */
const NOT_COPIED = [
  'pfx',
  'passphrase',
  'secureContext',
  'checkServerIdentity',
  'crl',
  'ALPNProtocols',
]

/** @throws InvalidArgument */
export function tlsOf(options: TlsOptions | true): RemoteTls {
  if (options === true) return { insecure: false }
  for (const name of NOT_COPIED) if (options[name] !== undefined) throw refused(`tls.${name}`)
  const { ca, cert, key, servername, host } = options
  if (servername !== undefined && host !== undefined && servername !== host) {
    throw refused('tls.servername')
  }
  if ((cert === undefined) !== (key === undefined)) throw refused('one of tls.cert and tls.key')
  const tls: RemoteTls = { insecure: options.rejectUnauthorized === false }
  if (ca !== undefined) tls.ca = pem(ca, 'tls.ca')
  if (cert !== undefined) tls.cert = pem(cert, 'tls.cert')
  if (key !== undefined) tls.key = pem(key, 'tls.key')
  return tls
}

/** PEM in text or bytes, or a list of such. */
function pem(given: unknown, name: string): Uint8Array {
  const parts = (Array.isArray(given) ? given : [given]).map((one: unknown) => {
    if (typeof one === 'string') return one
    if (one instanceof Uint8Array) return Buffer.from(one).toString()
    throw refused(name)
  })
  return Buffer.from(parts.join('\n'))
}
