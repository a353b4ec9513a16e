// Prints what the TypeScript package offers, as JSON: by the compiler, from the sources.
//
//   node read_typescript.mjs FOLDER
//
// FOLDER is the repository; it has typescript/src, and typescript/node_modules with the compiler.

import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = path.resolve(process.argv[2])
const root = path.join(folder, 'typescript')
const ts = createRequire(pathToFileURL(`${root}/`))('typescript')

const ENTRIES = ['src/index.ts', 'src/memory/index.ts', 'src/redis-namespace/index.ts']

// The words of what programs write in the language's own way, and how. The asynchronous one is not
// told by itself.
const SIGNS = {
  '[Symbol.iterator]': { word: 'iteration', name: 'for of' },
  '[Symbol.dispose]': { word: 'scope', name: 'using' },
  '[Symbol.asyncDispose]': undefined,
}

const config = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config.config ?? {}, ts.sys, root)
const entries = ENTRIES.map((entry) => path.join(root, entry)).filter(ts.sys.fileExists)
const program = ts.createProgram(entries, { ...options, noEmit: true })
const checker = program.getTypeChecker()

/** What the entries export, by name. */
const exported = new Map()
for (const entry of entries) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry))
  for (const symbol of checker.getExportsOfModule(module)) exported.set(symbol.name, real(symbol))
}

function real(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function at(symbol) {
  const declaration = symbol?.declarations?.[0]
  if (declaration === undefined) return ''
  const file = declaration.getSourceFile()
  const { line } = file.getLineAndCharacterOfPosition(declaration.getStart())
  return `${path.relative(folder, file.fileName)}:${line + 1}`
}

function doc(symbol) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker))
}

/** Declared in the package, and neither private nor marked as internal. */
function isPublic(symbol) {
  const declared = symbol.declarations ?? []
  return declared.some((one) => {
    const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
    if (ts.getCombinedModifierFlags(one) & hidden) return false
    if (one.name !== undefined && ts.isPrivateIdentifier(one.name)) return false
    if (ts.getJSDocTags(one).some((tag) => tag.tagName.text === 'internal')) return false
    return one.getSourceFile().fileName.startsWith(path.join(root, 'src'))
  })
}

/** The name as it is written: that of a symbol in brackets. */
function nameOf(symbol) {
  return symbol.declarations[0].name?.getText() ?? symbol.name
}

/** The public members of a class, with those that it inherits. */
function methods(name) {
  const symbol = exported.get(name)
  if (symbol === undefined) return []
  return checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter(isPublic)
    .filter((member) => !(nameOf(member) in SIGNS) || SIGNS[nameOf(member)] !== undefined)
    .map((member) => {
      const signatures = checker.getSignaturesOfType(
        checker.getTypeOfSymbol(member),
        ts.SignatureKind.Call,
      )
      return {
        name: nameOf(member),
        at: at(member),
        arguments: [...new Set(signatures.flatMap(argumentsOf))],
        ...SIGNS[nameOf(member)],
        promise: signatures.some((one) => isPromise(checker.getReturnTypeOfSignature(one))),
      }
    })
}

function isPromise(type) {
  return type.symbol?.name === 'Promise'
}

/** The names of arguments; those in an object of options each by itself. */
function argumentsOf(signature) {
  return signature.getParameters().flatMap((parameter) => {
    const { valueDeclaration: declared } = parameter
    const isOptions = parameter.name === 'options' || ts.isObjectBindingPattern(declared.name)
    if (!isOptions) return [parameter.name]
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter))
    return checker.getPropertiesOfType(type).map((property) => property.name)
  })
}

/** The properties of a type that stands for options or facts. */
function fields(type) {
  if (type === undefined) return []
  return checker.getPropertiesOfType(type).map((property) => ({
    name: property.name,
    at: at(property),
    doc: doc(property),
    required: (property.flags & ts.SymbolFlags.Optional) === 0,
  }))
}

function declared(name) {
  const symbol = exported.get(name)
  return symbol && checker.getDeclaredTypeOfSymbol(symbol)
}

function member(owner, name) {
  const type = declared(owner)
  return type && checker.getPropertyOfType(type, name)
}

/** What a method gives, or promises, without undefined. */
function given(owner, name) {
  const method = member(owner, name)
  if (method === undefined) return undefined
  const [signature] = checker.getSignaturesOfType(
    checker.getTypeOfSymbol(method),
    ts.SignatureKind.Call,
  )
  if (signature === undefined) return undefined
  const returned = checker.getReturnTypeOfSignature(signature)
  return checker.getNonNullableType(checker.getAwaitedType(returned) ?? returned)
}

/** The object that an option may be, as `memory` does, which is false for none. */
function inner(owner, name) {
  const option = member(owner, name)
  if (option === undefined) return undefined
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(option))
  const types = type.isUnion() ? type.types : [type]
  return types.find((one) => one.flags & ts.TypeFlags.Object)
}

/** The texts that the last argument of an option, a function, may be. */
function causes(owner, name) {
  const option = member(owner, name)
  if (option === undefined) return []
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(option))
  const [signature] = checker.getSignaturesOfType(type, ts.SignatureKind.Call)
  const last = signature?.getParameters().at(-1)
  if (last === undefined) return []
  const cause = checker.getTypeOfSymbol(last)
  const types = cause.isUnion() ? cause.types : [cause]
  return types
    .filter((one) => one.isStringLiteral())
    .map((one) => ({ name: one.value, at: at(cause.aliasSymbol ?? option) }))
}

/** Events and what their listeners are told. */
function events(name) {
  const type = declared(name)
  if (type === undefined) return []
  return checker.getPropertiesOfType(type).map((event) => {
    const tuple = event.valueDeclaration.type
    const told = tuple && ts.isTupleTypeNode(tuple) ? tuple.elements : []
    return {
      name: event.name,
      at: at(event),
      arguments: told.map((one) => (one.name ?? one).getText()),
    }
  })
}

function errors() {
  const base = declared('PolycacheError')
  const found = []
  for (const [name, symbol] of exported) {
    if (!(symbol.flags & ts.SymbolFlags.Class) || name === 'PolycacheError') continue
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    if (!(checker.getBaseTypes(type) ?? []).includes(base)) continue
    const code = checker.getTypeOfSymbol(checker.getPropertyOfType(type, 'code'))
    const own = checker.getPropertiesOfType(type).filter((one) => one.parent === symbol)
    const carried = own.map((one) => one.name).filter((one) => one !== 'code')
    found.push({ name, code: code.value, at: at(symbol), arguments: carried })
  }
  return found
}

/** The options of a function, its last argument. */
function optionsOf(name) {
  const symbol = exported.get(name)
  if (symbol === undefined) return []
  const [signature] = checker.getSignaturesOfType(
    checker.getTypeOfSymbol(symbol),
    ts.SignatureKind.Call,
  )
  const last = signature.getParameters().at(-1)
  return fields(checker.getNonNullableType(checker.getTypeOfSymbol(last)))
}

console.log(
  JSON.stringify({
    cache: {
      methods: methods('Cache'),
      options: fields(declared('CacheOptions')),
      memory: fields(inner('CacheOptions', 'memory')),
      statistics: fields(given('Cache', 'statsSync')),
      entry: fields(given('Cache', 'entrySync')),
      check: fields(given('Cache', 'check')),
    },
    memory_cache: {
      methods: methods('MemoryCache'),
      options: fields(declared('MemoryCacheOptions')),
      events: events('MemoryCacheEvents'),
      causes: causes('MemoryCacheOptions', 'removalListener'),
      statistics: fields(given('MemoryCache', 'stats')),
      entry: fields(given('MemoryCache', 'entry')),
    },
    lease: { methods: methods('Lease') },
    redis: { options: optionsOf('namespaced') },
    errors: { errors: errors() },
  }),
)
