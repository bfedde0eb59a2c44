import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isNode, isPair, LineCounter, type Document, parseDocument } from 'yaml'
import type { FieldError } from '#contract/errors.ts'
import { AppError, validationError } from '#server/lib/errors.ts'

/** A workflow file as it was read, with the places of its values. */
export type ReadFile = {
  file: string
  definition: Record<string, unknown>
  /** Returns an error with its place: `file:line:column: message`. */
  locate: (error: FieldError) => string
}

export const FOLDER = 'workflows'

/** Reads files and folders of files, the folder `workflows` by default. Throws with every error of syntax. */
export function readWorkflowFiles(paths: string[]): ReadFile[] {
  const files = (paths.length > 0 ? paths : [FOLDER]).flatMap(listFiles)
  const read = files.map(readWorkflowFile)
  throwLocated(read.flatMap((one) => ('problems' in one ? one.problems : [])))
  return read.filter((one): one is ReadFile => 'definition' in one)
}

/** Throws the errors, which have their places already. */
export function throwLocated(problems: string[]): void {
  if (problems.length === 0) return
  throw validationError(
    problems.map((problem) => {
      const [, field = '', message = ''] = /^(.*?): (.*)$/s.exec(problem) ?? []
      return { field, message }
    }),
  )
}

function listFiles(path: string): string[] {
  if (!existsSync(path)) throw new AppError('Not Found', `There is no file or folder ${path}`)
  if (!statSync(path).isDirectory()) return [path]
  const found = globSync('*.{yaml,yml,json}', { cwd: path }).toSorted()
  if (found.length > 0) return found.map((name) => join(path, name))
  throw new AppError('Not Found', `The folder ${path} has no .yaml, .yml or .json file: see loam pull`)
}

function readWorkflowFile(file: string): ReadFile | { problems: string[] } {
  const lineCounter = new LineCounter()
  // JSON is YAML as well, so that both have places.
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter, intAsBigInt: true })
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message.split('\n')[0]}`)
    return { problems }
  }
  const definition: unknown = document.toJS()
  if (!isMap(document.contents) || typeof definition !== 'object' || definition === null) {
    return { problems: [`${at(0)}: must be an object with loam, workflow and sheets`] }
  }
  return {
    file,
    definition: definition as Record<string, unknown>,
    locate: ({ field, message }) => {
      const { offset, rest } = findPlace(document, parsePath(field))
      return `${at(offset)}: ${rest === '' ? '' : `${rest} `}${message}`
    },
  }
}

/** Returns the steps of a path such as `sheets[0].actions[1].inputs.url`. */
function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name = '']) =>
    index === undefined ? name : Number(index),
  )
}

/**
 * Returns the place of the deepest part of a path that the file has, and the last step of the path if the file
 * does not have it.
 */
function findPlace(document: Document, path: (string | number)[]): { offset: number; rest: string } {
  for (let length = path.length; length > 0; length -= 1) {
    const offset = findOffset(document, path.slice(0, length))
    const name = path.at(-1)
    if (offset === undefined) continue
    return { offset, rest: typeof name === 'string' ? name : '' }
  }
  return { offset: 0, rest: path.join('.') }
}

function findOffset(document: Document, path: (string | number)[]): number | undefined {
  const last = path.at(-1)
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
  if (isMap(parent)) {
    const pair = parent.items.find(
      (item) => isPair(item) && isNode(item.key) && String(item.key) === String(last),
    )
    return isNode(pair?.key) ? pair.key.range?.[0] : undefined
  }
  const node = document.getIn(path, true)
  return isNode(node) ? node.range?.[0] : undefined
}
