import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { SourceState } from '#contract/sources.ts'
import { useCan } from '../../api/session.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { nameWords } from '../../ui/name-words.ts'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { Table } from '../../ui/table.tsx'
import { ON_CHANGE } from './sync-source.tsx'

/** The table of the workflows that receive the records of a source. */
export function SourceSyncs({
  syncs,
  onEdit,
}: {
  syncs: SourceState['syncs']
  /** Edits the sync with a workflow. */
  onEdit?: (workflowId: string) => void
}) {
  const canRead = useCan()('workflows:read')
  const workflows = useQuery({ ...workflowsQuery, enabled: canRead && syncs.length > 0 })
  if (syncs.length === 0) return null
  const findWorkflowName = (id: string) =>
    workflows.data?.find(({ workflow_id }) => workflow_id === id)?.name ?? 'A workflow of others'
  return (
    <section aria-label="Where records go" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Syncs</h2>
      <Table
        label="Syncs"
        items={syncs}
        getKey={({ workflow_id }) => workflow_id}
        columns={[
          {
            name: 'Workflow',
            cell: ({ workflow_id: id }) =>
              canRead ? (
                <Link
                  to="/workflows/$workflowId"
                  params={{ workflowId: id }}
                  className="break-words hover:text-accent-text hover:underline"
                >
                  {findWorkflowName(id)}
                </Link>
              ) : (
                'A workflow'
              ),
          },
          {
            name: 'Fields',
            cell: ({ field_mapping }) => (
              <span className="break-words">
                {Object.entries(field_mapping)
                  .map(([input, field]) => `${nameWords(field)} → ${input.replace(/^input\./, '')}`)
                  .join(', ')}
              </span>
            ),
          },
          {
            name: 'When a record changes',
            wideOnly: true,
            cell: ({ on_change }) => ON_CHANGE.find(({ value }) => value === on_change)?.label,
          },
          { name: 'Delivered', align: 'right', cell: ({ delivered }) => delivered.toLocaleString('en') },
          { name: 'Waiting', align: 'right', cell: ({ waiting }) => waiting.toLocaleString('en') },
          ...(onEdit === undefined
            ? []
            : [
                {
                  name: 'Actions',
                  hideName: true,
                  align: 'right' as const,
                  cell: ({ workflow_id: id }: SourceState['syncs'][number]) => (
                    <RowActions>
                      <RowAction
                        verb="Edit"
                        of={`the sync into ${findWorkflowName(id)}`}
                        onClick={() => onEdit(id)}
                      />
                    </RowActions>
                  ),
                },
              ]),
        ]}
      />
    </section>
  )
}
