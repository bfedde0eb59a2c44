import type { ConfiguredValue } from '../chain/definition.ts'
import { type InputRenames, renameInText } from '../chain/input-renames.ts'
import { parseTemplate, printToken, soleToken } from '../chain/references.ts'
import { describeField, type Field, type FieldTexts, hasToken } from './field.ts'

/**
 * The texts in columns of a row. `inputs` holds the columns' names if all of them are inputs, and is null otherwise.
 */
export type ColumnTexts = { texts: string[]; inputs: string[] | null }

/**
 * Defines a field for columns of the row, each a token or the bare name of an input (D65). Its value is the texts in
 * them.
 */
export function columns(options: FieldTexts & { required?: boolean }): Field<ColumnTexts> {
  return {
    type: 'jsonArray',
    required: options.required ?? false,
    ...describeField(options, 'columns'),
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
      return { texts: tokens.map((token) => scope.text(token)), inputs: findInputNames(tokens) }
    },
    // `resolve` returns no other shape, and an unset required field is never read.
    read: (resolved) => resolved as ColumnTexts,
    references: asTokens,
    renameInputs: renameColumns,
  }
}

const WRONG = 'must be a token or the name of an input'

/**
 * Returns true for a token or a name. Any other text is the same in every row, which would make all rows duplicates.
 */
function isColumn(item: unknown): item is string {
  return typeof item === 'string' && (hasToken(item) || (item.trim() !== '' && !/[{}]/.test(item)))
}

/** Returns the names of the inputs, or null if a token names something else. */
function findInputNames(tokens: string[]): string[] | null {
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

/** Renames inputs in tokens and bare names. */
function renameColumns(configured: ConfiguredValue, renames: InputRenames): ConfiguredValue {
  if (!Array.isArray(configured)) return configured
  return configured.map((item: unknown) => {
    if (!isColumn(item) || hasToken(item))
      return typeof item === 'string' ? renameInText(item, renames) : item
    const token = printToken({ kind: 'input', name: item.trim() })
    const renamed = renameInText(token, renames)
    return renamed === token ? item : renamed.slice('{{input.'.length, -'}}'.length)
  })
}
