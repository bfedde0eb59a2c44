import type { Row } from '../../api/sheet.ts'
import { valueText } from './cell-text.ts'
import type { Column } from './columns.ts'

export type Reference = { token: string; type: string }

/** What an action may refer to: the inputs, and outputs of the actions before it. */
export function referencesFor(columns: readonly Column[], action: string | null): Reference[] {
  const found: Reference[] = []
  for (const column of columns) {
    if (column.kind === 'input') found.push({ token: `{{input.${column.name}}}`, type: column.type })
    else if (column.key === action) break
    else {
      for (const output of column.node.outputs ?? [])
        found.push({ token: output.reference, type: output.type })
    }
  }
  return found
}

const TOKEN = /\{\{\s*([^{}]+?)\s*\}\}/g

/** A template with the values of a row in it, as far as they are known. */
export function fillTemplate(template: string, row: Row, asCode = false): string {
  return template.replace(TOKEN, (token, path: string) => {
    const value = valueOfToken(path, row)
    if (value === undefined) return token
    return asCode ? JSON.stringify(value) : valueText(value)
  })
}

export const hasToken = (text: string) => new RegExp(TOKEN.source).test(text)

/** `input.domain`, `action_1.output`, or further into the value; undefined where the row does not know it. */
export function valueOfToken(path: string, row: Row): unknown {
  const clean = path.replace(/^\{\{\s*|\s*\}\}$/g, '')
  const [head = '', ...rest] = clean.split('.')
  if (head === 'input') {
    const name = rest.join('.')
    return name in row.inputs ? (row.inputs[name] ?? '') : undefined
  }
  const cell = row.cells[head]
  if (cell === undefined) return undefined
  return (
    rest.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      cell.outputs ?? {},
    ) ?? ''
  )
}
