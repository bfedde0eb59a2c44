import type { Row } from '../../api/sheet.ts'
import type { Column } from './columns.ts'

export type Reference = { token: string; type: string }

/** Returns the references that an action can use: the inputs, and the outputs of the actions before it. */
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

/** Returns the value of a path such as `input.domain` or `action_1.output.key`, or undefined if the row has no such input or cell. */
export function resolveToken(path: string, row: Row): unknown {
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
