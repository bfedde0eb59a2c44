import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ConfigureActionBody } from '#contract/actions.ts'
import type { Warning } from '#contract/envelope.ts'
import { type Call, sheetCall } from '../../../api/calls.ts'
import type { CatalogueAction } from '../../../api/catalogue.ts'
import { ApiError, fetchData, fieldProblem, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { GraphNode } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Checkbox, TextArea, TextField } from '../../../ui/text-field.tsx'
import { notify } from '../../../ui/toasts.tsx'
import { type ConditionGroup, printGroups, readGroups } from '../conditions.ts'
import { changeDefinition } from '../definition-steps.ts'
import { referencesFor } from '../references.ts'
import { credits } from '../runs/run-dialog.tsx'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet } from '../sheet-view.ts'
import { ActionField } from './action-fields.tsx'
import { ConditionsEditor } from './conditions-editor.tsx'
import { Group, Panel } from './panel.tsx'
import { TryOnRow } from './try-on-row.tsx'
import { pickTested } from './use-trial.ts'

type Props = { node: GraphNode; warnings: Warning[]; template: CatalogueAction }

export function ActionForm({ node, warnings: first, template }: Props) {
  const view = useSheet()
  const { sheet, columns, can } = view
  const id = node.action_instance_id
  const params = { action_instance_id: id }
  const [name, setName] = useState(node.display_name)
  const [changed, setChanged] = useState<Record<string, unknown>>({})
  const [groups, setGroups] = useState<ConditionGroup[]>(() => readGroups(node.run_if ?? {}))
  const [continuesIfNotMet, setContinuesIfNotMet] = useState(
    node.run_if?.['continue_workflow_if_run_condition_not_met'] === true,
  )
  const [continuesOnFailure, setContinuesOnFailure] = useState(
    node.continue_workflow_if_action_fails === true,
  )
  const [note, setNote] = useState(node.note ?? '')
  const [warnings, setWarnings] = useState(first)
  const references = referencesFor(columns, id)
  const values = { ...node.inputs, ...changed }

  const body = findChanges(node, { changed, groups, continuesIfNotMet, continuesOnFailure, note })
  const configure = sheetCall(sheet, 'PATCH /actions/:action_instance_id', { params, body })
  const save = useSave(node, name, configure, setWarnings)
  const hasFieldProblem = save.error instanceof ApiError && save.error.fields.length > 0
  const isChanged = Object.keys(body).length > 0 || name !== node.display_name
  const title = `Action ${node.display_name}`
  return (
    <Panel
      name={title}
      title={
        <>
          <h2 className="truncate text-14 font-semibold">{title}</h2>
          <p className="truncate text-11 text-muted">{`${template.name} · ${id}`}</p>
        </>
      }
      footer={
        <>
          {can.editActions && (
            <Button kind="primary" busy={save.isPending} disabled={!isChanged} onClick={() => save.mutate()}>
              Save
            </Button>
          )}
          <CopyAsCurl call={configure} />
          {can.editActions && <DeleteButton action={id} />}
        </>
      }
    >
      <p className="text-muted">{template.description}</p>
      {save.error !== null && <Problem error={save.error} />}
      <Warnings warnings={warnings} />
      <TextField label="Name" value={name} onChange={setName} problem={fieldProblem(save.error, 'name')} />
      {template.inputs.map((field) => (
        <ActionField
          key={field.name}
          action={id}
          field={field}
          value={values[field.name]}
          references={references}
          problem={hasFieldProblem ? fieldProblem(save.error, field.name) : undefined}
          onChange={(value) => setChanged({ ...changed, [field.name]: value })}
        />
      ))}
      <TryOnRow action={id} changes={pickTested(body)} template={template} />
      <ConditionsEditor name="Run only if" groups={groups} onChange={setGroups} references={references} />
      {groups.length > 0 && (
        <Checkbox
          label="If not met, skip this action and continue"
          checked={continuesIfNotMet}
          onChange={setContinuesIfNotMet}
        />
      )}
      <Checkbox
        label="If this fails, keep running the row"
        checked={continuesOnFailure}
        onChange={setContinuesOnFailure}
      />
      <TextArea label="Note" value={note} onChange={setNote} rows={2} />
      <Impact action={id} />
    </Panel>
  )
}

/** Returns the mutation that saves the name and the changed fields. The change can be undone. */
function useSave(
  node: GraphNode,
  name: string,
  configure: Call<unknown>,
  setWarnings: (warnings: Warning[]) => void,
) {
  const view = useSheet()
  const { sheet, refreshDefinition, refresh } = view
  const queries = useQueryClient()
  const params = { action_instance_id: node.action_instance_id }
  const saveParts = async () => {
    if (name !== node.display_name) {
      await send(sheetCall(sheet, 'PATCH /actions/:action_instance_id/name', { params, body: { name } }))
    }
    return Object.keys(configure.body ?? {}).length === 0 ? null : send(configure)
  }
  return useMutation({
    mutationFn: () => changeDefinition(view, 'configure', saveParts, 2),
    onSuccess: async (answer) => {
      setWarnings(answer?.warnings ?? [])
      notify(`Saved ${name}`)
      await refreshDefinition()
      await queries.invalidateQueries({
        queryKey: keys.sheet(sheet.sheetId).configuration(node.action_instance_id),
      })
      refresh()
    },
  })
}

/** The button that asks before it deletes the action. */
function DeleteButton({ action }: { action: string }) {
  const { columns } = useSheet()
  const { open } = useSheetDialogs()
  return (
    <Button
      kind="ghost"
      className="ml-auto text-danger-text!"
      onClick={() => {
        const column = columns.find(({ key }) => key === action)
        if (column !== undefined) open({ kind: 'delete column', column })
      }}
    >
      Delete action
    </Button>
  )
}

type Draft = {
  changed: Record<string, unknown>
  groups: ConditionGroup[]
  continuesIfNotMet: boolean
  continuesOnFailure: boolean
  note: string
}

/** Returns the fields that differ from the saved configuration. Nothing else is sent, because any change makes cells run and bill again. */
function findChanges(
  node: GraphNode,
  { changed, groups, continuesIfNotMet, continuesOnFailure, note }: Draft,
): z.input<typeof ConfigureActionBody> {
  const inputs = Object.fromEntries(
    Object.entries(changed)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(node.inputs?.[name]))
      .map(([name, value]) => [name, value === '' ? null : value]),
  )
  const printed = printGroups(groups)
  const saved = printGroups(readGroups(node.run_if ?? {}))
  const continuedIfNotMet = node.run_if?.['continue_workflow_if_run_condition_not_met'] === true
  const isConditionChanged =
    JSON.stringify(printed) !== JSON.stringify(saved) ||
    (printed.length > 0 && continuesIfNotMet !== continuedIfNotMet)
  const run_if =
    printed.length === 0
      ? null
      : { conditions: printed, continue_workflow_if_run_condition_not_met: continuesIfNotMet }
  return {
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(isConditionChanged ? { run_if } : {}),
    ...(continuesOnFailure === (node.continue_workflow_if_action_fails === true)
      ? {}
      : { continue_workflow_if_action_fails: continuesOnFailure }),
    ...(note === (node.note ?? '') ? {} : { note }),
  }
}

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null
  return (
    <ul
      aria-label="Warnings"
      className="flex flex-col gap-1 rounded-md bg-out-of-credits-bg px-3 py-2 text-out-of-credits"
    >
      {warnings.map(({ field, code, message }) => (
        <li key={`${field} ${code} ${message}`} className="break-words">
          {labelPlace(field)}
          {toSentence(message)}
        </li>
      ))}
    </ul>
  )
}

/** Labels the place of a warning as the form does: `inputs.providers[1]` is `providers, item 2`. */
function labelPlace(field: string): string {
  if (field.startsWith('run_if')) return 'Run only if: '
  const [, name = '', index] = /^inputs\.([^.[]+)(?:\[(\d+)\])?/.exec(field) ?? []
  if (name === '') return ''
  return index === undefined ? `${name}: ` : `${name}, item ${Number(index) + 1}: `
}

const toSentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`

const SETTLED = ['complete', 'failed', 'error', 'out_of_credits', 'condition_not_met'] as const

/** The cost of a changed configuration: an estimate for running all rows that have a result again. */
function Impact({ action }: { action: string }) {
  const { sheet } = useSheet()
  const call = sheetCall(sheet, 'POST /estimate', {
    body: {
      status_filters: [{ action_instance_id: action, is: SETTLED }],
      action_instance_id: action,
      run_next_action: true,
    },
  })
  const estimate = useQuery({
    queryKey: keys.estimate(call),
    staleTime: 10_000,
    queryFn: () => fetchData(call),
  })
  const text =
    estimate.data === undefined
      ? ''
      : estimate.data.rows === 0
        ? 'No results yet'
        : `${plural(estimate.data.rows, 'row')} run and bill again, at most ${credits(estimate.data.credits.at_most ?? 0)}`
  return (
    <Group name="Affected by this change">
      <p role="status" aria-label="Impact" className="text-muted">
        {text}
      </p>
    </Group>
  )
}
