import { evaluate } from '../chain/condition-evaluate.ts'
import { parseConditionGroups } from '../chain/condition-shape.ts'
import { parseTemplate, resolveValue } from '../chain/references.ts'
import type { SheetAccess } from '../define.ts'

type Row = Record<string, unknown>

export type TestSheets = SheetAccess & {
  rows: Record<string, Row[]>
  /** The number of times that the running row was asked to be deleted. */
  removals: number
}

/** Creates sheets in memory, by id. Rows hold inputs only, which conditions name as `{{input.x}}`. */
export function createSheets(rows: Record<string, Row[]>): TestSheets {
  const claimed = new Set<string>()
  const absent = (id: string) => ({ ok: false as const, message: `sheet ${id} is not there` })
  const sheets: TestSheets = {
    rows,
    removals: 0,
    async append(id, added) {
      const sheet = rows[id]
      if (sheet === undefined) return absent(id)
      sheet.push(...added)
      return { ok: true, value: added.map((_, n) => `row-${sheet.length - added.length + n + 1}`) }
    },
    async lookup({ targetSheetId, conditions, limit, order }) {
      const sheet = rows[targetSheetId]
      if (sheet === undefined) return absent(targetSheetId)
      const groups = parseConditionGroups(conditions, 'conditions')
      if (!groups.ok) throw new Error(JSON.stringify(groups.errors))
      const found = sheet.filter((row) =>
        evaluate(groups.value, (variable) => read(variable, row), { resolveValue: (text) => text }),
      )
      const ordered = order === 'oldest' ? found : found.toReversed()
      return { ok: true, value: { count: found.length, records: ordered.slice(0, limit) } }
    },
    async judgeUnique({ texts, ignoreCase }) {
      const key = JSON.stringify(ignoreCase ? texts.map((text) => text.toLowerCase()) : texts)
      if (claimed.has(key)) return 'duplicate'
      claimed.add(key)
      return 'unique'
    },
    async deleteThisRow() {
      sheets.removals += 1
    },
  }
  return sheets
}

function read(variable: string, row: Row): unknown {
  return resolveValue(parseTemplate(variable), (token) =>
    token.kind === 'input' ? { found: true, value: row[token.name] } : { found: false },
  ).value
}
