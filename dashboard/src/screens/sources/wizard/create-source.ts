import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { type Call, call, sheetCall } from '../../../api/calls.ts'
import { fetchData, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { spending } from '../../../ui/spend-at-most.tsx'
import { notify } from '../../../ui/toasts.tsx'
import { valueText } from '../../../ui/value-text.ts'
import { guessType } from '../../import/mapping.ts'
import type { SourceRow } from '../record-table.tsx'
import { findColumn, type Mapping, NEW_WORKFLOW, NO_WORKFLOW } from './mapping.ts'

export type Plan = {
  request: Call<{ source_instance_id: string }>
  name: string
  fields: readonly string[]
  rows: readonly SourceRow[]
  mapping: Mapping
}

/** The ids that an earlier try has made. Another try goes on from there, so nothing is made twice. */
type Made = { source: string | null; workflow: string | null }

/** Returns the mutation that creates the source, then its workflow and columns, then the sync, and opens the source. */
export function useCreateSource(plan: () => Plan) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const made = useRef<Made>({ source: null, workflow: null })
  return useMutation({
    mutationFn: async () => {
      const { request, name, fields, rows, mapping } = plan()
      const done = made.current
      done.source ??= (await fetchData(request)).source_instance_id
      if (mapping.workflow !== NO_WORKFLOW) {
        if (mapping.workflow === NEW_WORKFLOW) {
          const title = mapping.workflowName.trim() === '' ? name : mapping.workflowName.trim()
          done.workflow ??= (await fetchData(call('POST /workflows', { body: { name: title } }))).workflow_id
        } else done.workflow = mapping.workflow
        const field_mapping = await addColumns(done.workflow, { fields, rows, mapping })
        const { warnings } = await send(
          call('POST /sources/:source_instance_id/sync', {
            params: { source_instance_id: done.source },
            body: {
              workflow_id: done.workflow,
              field_mapping,
              push_existing: true,
              on_change: mapping.onChange,
              ...spending(mapping.cap),
            },
          }),
        )
        if (warnings[0] !== undefined) notify(warnings[0].message)
      }
      return done.source
    },
    onSuccess: async (id) => {
      await queries.invalidateQueries({ queryKey: keys.sources })
      await queries.invalidateQueries({ queryKey: keys.workflows })
      notify('Created the source. Its first import has started')
      await navigate({ to: '/sources/$id', params: { id } })
    },
  })
}

/** Adds the missing columns to the main sheet. Returns the mapping of the sync. */
async function addColumns(
  workflowId: string,
  { fields, rows, mapping }: Pick<Plan, 'fields' | 'rows' | 'mapping'>,
): Promise<Record<string, string>> {
  const sheet = { workflowId, sheetId: workflowId }
  const known = await fetchData(sheetCall(sheet, 'GET /inputs'))
  const before = mapping.workflow === NEW_WORKFLOW ? [] : known
  const columns = fields.flatMap((field) => {
    const column = findColumn(field, fields, mapping, before)
    return column === null ? [] : [{ field, column }]
  })
  const missing = columns.filter(({ column }) => !known.some(({ name }) => name === column))
  if (missing.length > 0) {
    await send(
      sheetCall(sheet, 'POST /inputs', {
        body: missing.map(({ field, column }) => ({
          name: column,
          type: guessType(rows.map((row) => (valueText(row[field]) === '' ? null : valueText(row[field])))),
        })),
      }),
    )
  }
  return Object.fromEntries(columns.map(({ field, column }) => [`input.${column}`, field]))
}
