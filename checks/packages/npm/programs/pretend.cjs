/** Loaded before a program, makes it believe that it runs elsewhere: PRETEND=darwin-arm64, PRETEND=linux-x64-musl. */
const [platform, arch, libc] = process.env.PRETEND.split('-')
Object.defineProperty(process, 'platform', { value: platform })
Object.defineProperty(process, 'arch', { value: arch })
if (libc === 'musl') process.report.getReport = () => ({ header: {} })
