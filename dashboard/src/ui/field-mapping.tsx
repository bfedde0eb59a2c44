import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { inputsQuery } from '../api/sheet.ts'
import { workflowsQuery } from '../api/workflows.ts'
import { Combobox } from './combobox.tsx'
import { problemWithin } from './field-problem.ts'
import { Problem } from './problem.tsx'

export type FieldMappingState = ReturnType<typeof useFieldMapping>

/** Which of `fields` fills which input of a workflow's main sheet: by name, until somebody chooses otherwise. */
export function useFieldMapping(fields: readonly string[]) {
  const [workflow, setWorkflow] = useState('')
  const [chosen, setChosen] = useState<Record<string, string>>({})
  const workflows = useQuery(workflowsQuery)
  // The main sheet has the id of its workflow.
  const inputs = useQuery({
    ...inputsQuery({ workflowId: workflow, sheetId: workflow }),
    enabled: workflow !== '',
  })
  const names = (inputs.data ?? []).map(({ name }) => name)
  const fieldFor = (input: string) =>
    chosen[input] ?? fields.find((field) => field.toLowerCase() === input.toLowerCase()) ?? ''
  return {
    fields,
    workflow,
    workflows,
    inputs,
    names,
    fieldFor,
    chooseWorkflow: (next: string) => {
      setWorkflow(next)
      setChosen({})
    },
    chooseField: (name: string, field: string) => setChosen({ ...chosen, [name]: field }),
    body: {
      workflow_id: workflow,
      field_mapping: Object.fromEntries(
        names.flatMap((name) => (fieldFor(name) === '' ? [] : [[`input.${name}`, fieldFor(name)]])),
      ),
    },
    isEmpty: names.every((name) => fieldFor(name) === ''),
    problemOf: (error: unknown, name: string) => problemWithin(error, `field_mapping.input.${name}`),
  }
}

export function FieldMapping({ mapping, error }: { mapping: FieldMappingState; error: unknown }) {
  const { fields, workflow, workflows, inputs, names, fieldFor, chooseWorkflow, chooseField, problemOf } =
    mapping
  const failed = workflows.error ?? inputs.error
  return (
    <>
      {failed !== null && <Problem error={failed} />}
      <Combobox
        label="Workflow"
        value={workflow}
        choices={(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name }))}
        onChange={chooseWorkflow}
      />
      {inputs.data?.length === 0 && (
        <p role="status">This workflow has no inputs. Add one to its main sheet first.</p>
      )}
      {names.map((name) => (
        <Combobox
          key={`${workflow} ${name}`}
          label={`Field for ${name}`}
          value={fieldFor(name)}
          // There may be fields that nothing shown here has.
          free
          choices={[{ value: '', label: 'Left empty' }, ...fields.map((field) => ({ value: field }))]}
          onChange={(field) => chooseField(name, field)}
          problem={problemOf(error, name)}
        />
      ))}
    </>
  )
}
