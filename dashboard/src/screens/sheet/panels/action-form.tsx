import { type ReactNode, useCallback, useMemo, useState } from 'react'
import type { Warning } from '#contract/envelope.ts'
import { ApiError, fieldProblem } from '../../../api/client.ts'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Checkbox, TextArea, TextField } from '../../../ui/text-field.tsx'
import { nameTokens, splitColumns } from '../references.ts'
import { useSheet } from '../sheet-view.ts'
import { ConditionCount } from './condition-count.tsx'
import { ConditionsEditor } from './conditions-editor.tsx'
import { applyDraft, type Draft, hasChanges, NO_CHANGES } from './draft.ts'
import { SightContext, useSampleRow } from './editor/sight.ts'
import { ActionFields } from './fields/action-fields.tsx'
import { PanelContext } from './fields/panel-context.ts'
import { Impact } from './impact.tsx'
import { useInsertedValue } from './inserted-value.ts'
import { PanelFooter } from './panel-footer.tsx'
import { listWarnings } from './panel-warnings.ts'
import { Panel } from './panel.tsx'
import { TryOnRow } from './try-on-row.tsx'
import { useUnsavedChanges } from './unsaved-changes.tsx'
import { buildSave, buildTried, type Edited, useSave } from './use-save.ts'
import { Warnings } from './warnings-list.tsx'

type Given = Edited & {
  warnings: readonly Warning[]
  /** The inputs that a new action starts with. */
  suggested?: Record<string, unknown>
}

/** The form of one action: its inputs, when it runs, and what saving costs. */
export function ActionForm({ warnings: given, suggested, ...edited }: Given) {
  const { node, saved, template, after } = edited
  const { sheet, address } = useSheet()
  const [first] = useState<Draft>(() => (suggested === undefined ? NO_CHANGES : { inputs: suggested }))
  const inserted = useInsertedValue(saved, first, template)
  const [draft, setDraft] = useState(inserted)
  const [showsApiNames, setShowsApiNames] = useState(false)
  const { faults, setFault } = useFaults()
  const shown = applyDraft(saved, draft)
  const action = node?.action_instance_id ?? null
  const sight = useSightOf(action, after)
  const isDirty = draft !== first && hasChanges(saved, draft)
  const unsaved = useUnsavedChanges(isDirty)
  const save = useSave(edited, draft, (id) => {
    if (node !== null) return setDraft((now) => (now === draft ? NO_CHANGES : now))
    return unsaved.leave(() => address.openAction(id))
  })
  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }))
  const changed = Object.keys(draft.inputs)
  const warnings = listWarnings(template, shown.inputs, { saved: given, changed }).map(
    ({ text, ...warning }) => ({ ...warning, text: nameTokens(text, sight) }),
  )
  const title = `Action ${saved.display_name}`
  const price = printPrice(template.price)
  const facts = {
    template,
    node,
    values: shown.inputs,
    showsApiNames,
    notices: noticesOf(warnings),
    setFault,
  }
  return (
    <SightContext value={sight}>
      <PanelContext value={facts}>
        <Panel
          name={title}
          title={<FormTitle title={title} parts={[template.name, price, showsApiNames ? action : null]} />}
          footer={
            <PanelFooter
              action={action}
              highest={template.price.max}
              call={buildSave(sheet, edited, draft)}
              canSave={(node === null || isDirty) && faults.length === 0}
              busy={save.isPending}
              showsApiNames={showsApiNames}
              onApiNames={setShowsApiNames}
              onSave={(rows) => save.mutate(rows)}
              onCancel={() => unsaved.leave(address.closePanel)}
            />
          }
        >
          <p className="text-muted">{template.description}</p>
          {save.error !== null && <Problem error={withLabels(save.error, template.inputs)} />}
          <Warnings warnings={warnings} />
          <FormBody
            shown={shown}
            error={save.error}
            change={change}
            onInput={(name, value) =>
              setDraft((now) => ({ ...now, inputs: { ...now.inputs, [name]: value } }))
            }
          >
            <TryOnRow {...buildTried(edited, draft)} template={template} />
          </FormBody>
          {action !== null && <Impact action={action} />}
        </Panel>
        {unsaved.dialog}
      </PanelContext>
    </SightContext>
  )
}

/** The controls of an action, in their order. What stands between its inputs and its conditions is given. */
function FormBody({
  shown,
  error,
  change,
  onInput,
  children,
}: {
  shown: ReturnType<typeof applyDraft>
  /** The error of the last save. */
  error: Error | null
  change: (changes: Partial<Draft>) => void
  onInput: (name: string, value: unknown) => void
  children: ReactNode
}) {
  return (
    <>
      <TextField
        label="Name"
        value={shown.name}
        onChange={(name) => change({ name })}
        problem={fieldProblem(error, 'name')}
      />
      <ActionFields error={error} onChange={onInput} />
      {children}
      <ConditionsEditor name="Run only if" groups={shown.groups} onChange={(groups) => change({ groups })}>
        <ConditionCount groups={shown.groups} />
      </ConditionsEditor>
      {shown.groups.length > 0 && (
        <Checkbox
          label="If not met, skip this action and continue"
          checked={shown.continuesIfNotMet}
          onChange={(continuesIfNotMet) => change({ continuesIfNotMet })}
        />
      )}
      <Checkbox
        label="If this fails, keep running the row"
        checked={shown.continuesOnFailure}
        onChange={(continuesOnFailure) => change({ continuesOnFailure })}
      />
      <TextArea label="Note" value={shown.note} onChange={(note) => change({ note })} rows={2} />
    </>
  )
}

/** The title of the panel, with the action's template and price below it. */
function FormTitle({ title, parts }: { title: string; parts: readonly (string | null)[] }) {
  return (
    <>
      <h2 className="truncate text-14 font-semibold">{title}</h2>
      <p className="truncate text-11 text-muted">{parts.filter((part) => part !== null).join(' · ')}</p>
    </>
  )
}

/** Returns what the editors of an action know of the columns: those before it, and the values of a row. */
function useSightOf(action: string | null, after: Edited['after']) {
  const { columns } = useSheet()
  const row = useSampleRow()
  return useMemo(() => ({ ...splitColumns(columns, { action, after }), row }), [columns, action, after, row])
}

/** Returns the texts of the warnings by their fields. */
function noticesOf(warnings: ReturnType<typeof listWarnings>): Record<string, string> {
  return Object.fromEntries(warnings.flatMap(({ field, text }) => (field === null ? [] : [[field, text]])))
}

/** Holds the fields that cannot be saved as they are, such as JSON that is not complete. */
function useFaults() {
  const [faults, setFaults] = useState<readonly string[]>([])
  const setFault = useCallback((field: string, fault: string | null) => {
    setFaults((now) => {
      const others = now.filter((name) => name !== field)
      if (fault !== null) return [...others, field]
      return others.length === now.length ? now : others
    })
  }, [])
  return { faults, setFault }
}

function printPrice({ min, max }: { min: number; max: number }): string {
  if (max === 0) return 'free'
  return min === max ? `${plural(max, 'credit')} per row` : `${min} to ${plural(max, 'credit')} per row`
}

/** Returns the error with the labels of fields instead of their names in the API. */
function withLabels(error: Error, inputs: readonly { name: string; label: string }[]): Error {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error
  const labelOf = (path: string) => {
    const name = /^inputs\.([a-z0-9_]+)/.exec(path)?.[1]
    if (path.startsWith('run_if')) return 'Run only if'
    return inputs.find((field) => field.name === name)?.label ?? path
  }
  const { status, code, fields, requestId } = error
  const message = fields.map(({ field, message }) => `${labelOf(field)}: ${message}`).join('; ')
  return new ApiError(message, { status, code, fields: [...fields], requestId })
}
