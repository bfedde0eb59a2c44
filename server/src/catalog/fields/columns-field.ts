import type { ConfiguredValue } from '../chain/definition.ts'
import { parseTemplate, printToken, soleToken } from '../chain/references.ts'
import { type Field, hasToken } from './field.ts'

/** The texts that columns of a row hold; `inputs` are their names where all of them are inputs. */
export type ColumnTexts = { texts: string[]; inputs: string[] | null }

/** Columns of the row: each a token or the bare name of an input (D65). Their value is the texts they hold. */
export function columns(options: { required?: boolean; description: string }): Field<ColumnTexts> {
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
    resolve(configured, scope): ColumnTexts | '' {
      const tokens = asTokens(configured)
      if (tokens.length === 0) return ''
      return { texts: tokens.map((token) => scope.text(token)), inputs: inputsIn(tokens) }
    },
    // Nothing else comes out of `resolve`; an unset field that is required is never read.
    read: (resolved) => resolved as ColumnTexts,
    references: asTokens,
  }
}

const WRONG = 'must be a token or the name of an input'

/** Anything else would stand for the same text in every row, and make them all duplicates of each other. */
function isColumn(item: unknown): item is string {
  return typeof item === 'string' && (hasToken(item) || (item.trim() !== '' && !/[{}]/.test(item)))
}

/** The inputs that tokens name, when they name nothing else. */
function inputsIn(tokens: string[]): string[] | null {
  const names = tokens.flatMap((text) => {
    const token = soleToken(parseTemplate(text.trim()))
    return token?.kind === 'input' ? [token.name] : []
  })
  return names.length === tokens.length ? names : null
}

function asTokens(configured: ConfiguredValue): string[] {
  if (!Array.isArray(configured)) return []
  return configured
    .filter(isColumn)
    .map((item) => (hasToken(item) ? item : printToken({ kind: 'input', name: item.trim() })))
}
