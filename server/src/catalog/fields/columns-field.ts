import type { ConfiguredValue } from '../../chain/definition.ts'
import { printToken } from '../../chain/references.ts'
import { type Field, hasToken } from './field.ts'

/** Columns of the row: each a token or the bare name of an input (D65). Their value is the texts they hold. */
export function columns(options: { required?: boolean; description: string }): Field<string[]> {
  return {
    type: 'jsonArray',
    required: options.required ?? false,
    description: options.description,
    check(raw, path) {
      const list: unknown = typeof raw === 'string' ? [raw] : raw
      if (!Array.isArray(list)) return { kind: 'refuse', errors: [{ field: path, message: WRONG }] }
      const errors = list.flatMap((item: unknown, n) =>
        isColumn(item) ? [] : [{ field: `${path}[${n}]`, message: WRONG }],
      )
      return errors.length > 0 ? { kind: 'refuse', errors } : { kind: 'save', value: list }
    },
    resolve: (configured, scope) => asTokens(configured).map((token) => scope.text(token)),
    read: (resolved) => (Array.isArray(resolved) ? resolved.filter((item) => typeof item === 'string') : []),
    references: asTokens,
  }
}

const WRONG = 'must be a token or the name of an input'

/** Anything else would stand for the same text in every row, and make them all duplicates of each other. */
function isColumn(item: unknown): item is string {
  return typeof item === 'string' && (hasToken(item) || (item.trim() !== '' && !/[{}]/.test(item)))
}

function asTokens(configured: ConfiguredValue): string[] {
  if (!Array.isArray(configured)) return []
  return configured
    .filter(isColumn)
    .map((item) => (hasToken(item) ? item : printToken({ kind: 'input', name: item.trim() })))
}
