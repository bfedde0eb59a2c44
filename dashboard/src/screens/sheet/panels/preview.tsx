import type { Row } from '../../../api/sheet.ts'
import { fillTemplate, hasToken } from '../references.ts'
import { useSheet } from '../sheet-view.ts'
import { Group } from './panel.tsx'

/** The field of the formula action, where a token stands for a JavaScript value. */
const FORMULA = 'data_formatter'

/** A preview of the templates, filled with the values of the focused row, or else of the first row. */
export function Preview({ values }: { values: Record<string, unknown> }) {
  const { rows, state } = useSheet()
  const { row: at } = state.getState().active
  const row: Row | undefined = rows.row(Math.max(0, at)) ?? rows.row(0)
  const templates = Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' && hasToken(value) ? [[name, value] as const] : [],
  )
  if (row === undefined || templates.length === 0) return null
  return (
    <Group name="Preview">
      <dl className="flex flex-col gap-1 rounded-md border bg-subtle p-2">
        {templates.map(([name, template]) => (
          <div key={name}>
            <dt className="text-11 text-muted">{name}</dt>
            <dd className="font-mono text-12 break-words whitespace-pre-wrap">
              {fillTemplate(template, row, name === FORMULA)}
            </dd>
          </div>
        ))}
      </dl>
    </Group>
  )
}
