import { useMutation } from '@tanstack/react-query'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData, send } from '../../../api/client.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { copyText } from '../../../ui/copy-text.ts'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import { valueText } from '../cell-text.ts'
import { changeDefinition } from '../definition-steps.ts'
import { type SheetView, useSheet } from '../sheet-view.ts'
import { printPath, tokenOf, type ValueLine } from '../value-path.ts'

/** The buttons beside a value of a cell: it becomes a column, is copied, or is used by the next action. */
export function ValueActions({ action, line }: { action: string; line: ValueLine }) {
  const view = useSheet()
  const token = tokenOf(action, line.path)
  const add = useMutation({
    mutationFn: (reference: string) => addColumn(view, action, line, reference),
    onError: (error) => notifyProblem(error),
  })
  const use = async (reference: string) => {
    await copyText(reference).catch(notifyProblem)
    const next = findNext(view, action)
    view.state.getState().carry({ token: reference, name: printPath(line.path) })
    if (next === undefined) view.address.openAdd(action)
    else view.address.openAction(next)
  }
  return (
    <>
      {token !== null && view.can.editActions && (
        <Button size="small" kind="ghost" busy={add.isPending} onClick={() => add.mutate(token)}>
          Add as column
        </Button>
      )}
      <CopyButton size="small" kind="ghost" label="Copy" text={() => valueText(line.value)} />
      {token !== null && view.can.editActions && (
        <Button size="small" kind="ghost" onClick={() => void use(token)}>
          Use in next action
        </Button>
      )}
    </>
  )
}

function findNext({ columns }: SheetView, action: string): string | undefined {
  const column = columns.find(({ key }) => key === action)
  return column?.kind === 'action' ? column.node.next[0] : undefined
}

/** Adds a formula that reads the value, behind the action, and computes it where the action has a result. It is free. */
async function addColumn(view: SheetView, action: string, line: ValueLine, token: string): Promise<void> {
  const { sheet } = view
  const name = nameOf(line, view)
  const body = {
    action_id: 'format_data_using_js_expression',
    after: action,
    name,
    inputs: { data_formatter: token },
  }
  const added = await changeDefinition(view, `add column ${name}`, () =>
    fetchData(sheetCall(sheet, 'POST /actions/add', { body })),
  )
  await view.refreshDefinition()
  if (view.can.run) {
    await send(
      sheetCall(sheet, 'POST /actions/:action_instance_id/run', {
        params: { action_instance_id: added.action_instance_id },
        body: { status_filters: [{ action_instance_id: action, is: ['complete'] }], max_credits: 0 },
      }),
    )
  }
  view.refresh()
  notify(`Column ${name} added`)
}

/** Returns the name of the last field in the path, as a column is named, and one that no column has yet. */
function nameOf({ path }: ValueLine, { columns }: SheetView): string {
  const field = path.findLast((step) => typeof step === 'string') ?? 'value'
  const words = field.replaceAll('_', ' ')
  const name = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  const taken = new Set(columns.map((column) => column.name))
  for (let n = 1; ; n += 1) {
    const free = n === 1 ? name : `${name} ${n}`
    if (!taken.has(free)) return free
  }
}
