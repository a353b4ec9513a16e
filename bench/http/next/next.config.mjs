// Everything else is as `next build` has it by itself.
export default {
  // These are not bundled: Node loads them as they were published.
  serverExternalPackages: ['redis', 'ioredis', 'polycache'],
  turbopack: { root: import.meta.dirname },
}
