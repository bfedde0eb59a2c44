import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/calls.ts'
import { useCan } from '../../../api/session.ts'
import { inputsQuery } from '../../../api/sheet.ts'
import { workflowsQuery } from '../../../api/workflows.ts'
import { isConnected, takesAccount } from '../account-choice.tsx'
import { readFields } from '../field-texts.ts'
import { usePreview } from '../preview.tsx'
import { listFields } from '../record-table.tsx'
import type { SourceForm, SourceType } from '../source-form.ts'
import { useCreateSource } from './create-source.ts'
import { findColumn, listTwice, type Mapping, NEW_MAPPING, NEW_WORKFLOW, NO_WORKFLOW } from './mapping.ts'
import type { Step } from './steps.tsx'

export type WizardState = ReturnType<typeof useWizard>

/** Holds what a person has entered in the wizard, with the preview and the mutation that creates the source. */
export function useWizard(type: SourceType) {
  const canMap = useCan()('workflows:write')
  const steps = listSteps(type, canMap)
  const [step, setStep] = useState<Step>(steps[1] ?? 'Preview')
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [name, setName] = useState('')
  const [chosen, setMapping] = useState<Mapping>(NEW_MAPPING)
  const preview = usePreview(type, { typed })
  const rows = preview.rows ?? []
  const fields = rows.length > 0 ? listFields(rows) : (type.record_fields ?? [])
  const target = useTarget(chosen, fields, canMap)
  const title = name.trim() === '' ? type.name : name.trim()
  const buildCall = () =>
    call('POST /sources/:source_id', {
      params: { source_id: type.source_id },
      body: { ...readFields(type.fields, typed), ...(name.trim() === '' ? {} : { name: name.trim() }) },
    })
  const create = useCreateSource(() => ({
    request: buildCall(),
    name: title,
    fields,
    rows,
    mapping: target.mapping,
  }))
  const form: SourceForm = {
    sourceId: type.source_id,
    providers: type.providers,
    labels: Object.fromEntries(type.fields.map((field) => [field.name, field.label])),
    typed,
    onType: (change) => setTyped((before) => ({ ...before, ...change })),
    error: create.error ?? preview.error,
  }
  return {
    type,
    steps,
    step,
    setStep,
    form,
    name,
    setName,
    preview,
    fields,
    rows,
    target: { ...target, workflowName: target.workflowName || title },
    changeMapping: (change: Partial<Mapping>) => setMapping({ ...chosen, ...change }),
    buildCall,
    create,
    obstacle: findObstacle(step, { type, preview, isTwice: target.isTwice }),
  }
}

/** Returns where the records go: the mapping as it applies, the name of the workflow, the columns that are filled. */
function useTarget(chosen: Mapping, fields: readonly string[], canMap: boolean) {
  const workflow = !canMap || fields.length === 0 ? NO_WORKFLOW : chosen.workflow
  const isOld = workflow !== NEW_WORKFLOW && workflow !== NO_WORKFLOW
  const workflows = useQuery({ ...workflowsQuery, enabled: canMap })
  const inputs = useQuery({
    ...inputsQuery({ workflowId: workflow, sheetId: workflow }),
    enabled: isOld,
  })
  const known = isOld ? (inputs.data ?? []) : []
  const mapping = { ...chosen, workflow }
  const found = workflows.data?.find(({ workflow_id }) => workflow_id === workflow)
  return {
    mapping,
    workflow,
    workflowName: found?.name ?? chosen.workflowName.trim(),
    columns: fields.filter((field) => findColumn(field, fields, mapping, known) !== null).length,
    isTwice: workflow !== NO_WORKFLOW && listTwice(fields, mapping, known).size > 0,
  }
}

/** Lists the steps of a type. One that needs no account has no step for it. */
function listSteps(type: SourceType, canMap: boolean): Step[] {
  return [
    'Pick',
    ...(takesAccount(type) ? (['Connect'] as const) : []),
    'Preview',
    ...(canMap ? (['Map'] as const) : []),
    'Schedule',
    'Create',
  ]
}

/** Returns what has to be done before the next step, or null. */
function findObstacle(
  step: Step,
  { type, preview, isTwice }: { type: SourceType; preview: ReturnType<typeof usePreview>; isTwice: boolean },
): string | null {
  if (step === 'Connect') return isConnected(type) ? null : 'Connect an account to go on.'
  if (step === 'Preview' && preview.missing.length > 0) {
    return `Fill in ${preview.missing.join(' and ')} to go on.`
  }
  return step === 'Map' && isTwice ? 'Choose a column of its own for each field.' : null
}
