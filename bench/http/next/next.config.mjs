// Everything else is as `next build` has it by itself.
export default {
  // The clients are not bundled: Node loads them as they were published.
  serverExternalPackages: ['redis', 'ioredis'],
  turbopack: { root: import.meta.dirname },
}
