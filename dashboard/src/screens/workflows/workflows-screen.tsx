import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../../api/session.ts'
import { overviewQuery, type Workflow, workflowsQuery } from '../../api/workflows.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FileUp, Plus, Sparkles, Table2 } from '../../ui/icons.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, type Order, Table } from '../../ui/table.tsx'
import { SearchBox } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { NewWorkflow } from './new-workflow.tsx'
import { useOpenDemo } from './open-demo.ts'
import { WorkflowActions } from './workflow-actions.tsx'

const COLUMNS: readonly Column<Workflow>[] = [
  {
    name: 'Name',
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ workflow_id, name }) => (
      <Link
        to={`/workflows/${workflow_id}`}
        className="font-medium break-words text-text hover:text-accent-text hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    name: 'Last run',
    sortBy: ({ last_run_at }) => last_run_at ?? '',
    cell: ({ last_run_at }) => <TimeText at={last_run_at} />,
  },
  {
    name: 'Changed',
    wideOnly: true,
    sortBy: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <TimeText at={updated_at} />,
  },
  { name: 'Owner', wideOnly: true, cell: (workflow) => <Ownership workflow={workflow} /> },
  {
    name: 'Actions',
    hideName: true,
    align: 'right',
    cell: (workflow) => <WorkflowActions workflow={workflow} />,
  },
]

export function Screen() {
  const workflows = useQuery(workflowsQuery)
  const can = useCan()
  const [words, setWords] = useState('')
  const [order, setOrder] = useState<Order>({ column: 'Changed', descending: true })
  const [isMaking, setMaking] = useState<'blank' | 'file' | null>(null)
  const demo = useOpenDemo()
  if (workflows.error !== null && workflows.data === undefined) {
    return <Refusal error={workflows.error} title="Workflows" onRetry={() => void workflows.refetch()} />
  }
  const all = workflows.data
  const wanted = words.trim().toLowerCase()
  const found = all?.filter(({ name }) => name.toLowerCase().includes(wanted))
  const canWrite = can('workflows:write')
  const demoButton = (
    <Button
      kind={all?.length === 0 ? 'primary' : 'plain'}
      icon={Sparkles}
      busy={demo.isPending}
      onClick={() => demo.mutate()}
    >
      Open the demo workflow
    </Button>
  )
  return (
    <Page
      title="Workflows"
      actions={
        canWrite && (
          <>
            {all !== undefined && all.length > 0 && demoButton}
            <Button kind="primary" icon={Plus} onClick={() => setMaking('blank')}>
              New workflow
            </Button>
          </>
        )
      }
    >
      <SearchBox label="Search workflows" value={words} onChange={setWords} className="max-w-[320px]" />
      {found === undefined ? (
        <Skeleton />
      ) : all?.length === 0 ? (
        <EmptyState
          icon={Table2}
          title="No workflows yet"
          text="A workflow is a table that fills itself: rows of yours, and actions that run on each. The demo shows one at work, without a key and for 0 credits."
        >
          {canWrite && (
            <>
              {demoButton}
              <Button icon={FileUp} onClick={() => setMaking('file')}>
                Start from a file
              </Button>
            </>
          )}
        </EmptyState>
      ) : found.length === 0 ? (
        <EmptyState
          icon={Table2}
          title="Nothing found"
          text={`No workflow has “${words.trim()}” in its name.`}
        >
          <Button onClick={() => setWords('')}>Clear the search</Button>
        </EmptyState>
      ) : (
        <Table
          label="Workflows"
          columns={COLUMNS}
          items={found}
          keyOf={({ workflow_id }) => workflow_id}
          order={order}
          onOrder={setOrder}
        />
      )}
      <p aria-live="polite" className="sr-only">
        {found === undefined ? '' : `${found.length} workflows`}
      </p>
      {isMaking !== null && <NewWorkflow then={isMaking} onClose={() => setMaking(null)} />}
    </Page>
  )
}

function Ownership({ workflow }: { workflow: Workflow }) {
  const overview = useQuery({ ...overviewQuery(workflow.workflow_id), staleTime: 60_000 })
  if (overview.data === undefined) return <span className="text-muted">…</span>
  const { is_owner, shared_users } = overview.data
  if (!is_owner) return <>Shared with you</>
  return shared_users.length === 0 ? (
    <>You</>
  ) : (
    <span title={shared_users.join(', ')}>{`You, shared with ${shared_users.length}`}</span>
  )
}
