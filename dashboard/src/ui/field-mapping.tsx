import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { inputsQuery } from '../api/sheet.ts'
import { workflowsQuery } from '../api/workflows.ts'
import { Combobox } from './combobox.tsx'
import { problemWithin } from './field-problem.ts'
import { nameWords } from './name-words.ts'
import { Problem } from './problem.tsx'

export type FieldMappingState = ReturnType<typeof useFieldMapping>

/** Holds the mapping of `fields` to the inputs of a workflow's main sheet. Fields are matched by name until a person chooses others. */
export function useFieldMapping(
  fields: readonly string[],
  former?: { workflow_id: string; field_mapping: Readonly<Record<string, string>> },
) {
  const [workflow, setWorkflow] = useState(former?.workflow_id ?? '')
  const [chosen, setChosen] = useState(() => readMapping(former?.field_mapping ?? {}))
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
    findProblem: (error: unknown, name: string) => problemWithin(error, `field_mapping.input.${name}`),
  }
}

/** Returns the chosen field for each input of a mapping such as `{"input.name": "title"}`. */
const readMapping = (mapping: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(mapping).map(([input, field]) => [input.replace(/^input\./, ''), field]))

export function FieldMapping({ mapping, error }: { mapping: FieldMappingState; error: unknown }) {
  const { fields, workflow, workflows, inputs, names, fieldFor, chooseWorkflow, chooseField, findProblem } =
    mapping
  const loadError = workflows.error ?? inputs.error
  return (
    <>
      {loadError !== null && <Problem error={loadError} />}
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
          // A field may exist that none of the shown records has.
          free
          choices={[
            { value: '', label: 'Leave empty' },
            ...fields.map((field) => ({ value: field, label: nameWords(field) })),
          ]}
          onChange={(field) => chooseField(name, field)}
          problem={findProblem(error, name)}
        />
      ))}
    </>
  )
}
