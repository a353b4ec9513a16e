/** Redis namespaces for every command (spec/commands.md). Loads nothing of the cache and no native part. */
export { InvalidArgument, PolycacheError } from '../errors.ts'
export { CommandNotAllowed, InvalidNamespace, UnknownCommand } from '../more-errors.ts'
export { namespaced } from './namespaced.ts'
export type { Namespace } from './namespaces.ts'
export type { Kind, OptionWords, Rule } from './rules.ts'
export { type NamespaceOptions, Session, type TakeOff } from './session.ts'
export type { Word } from './word.ts'
