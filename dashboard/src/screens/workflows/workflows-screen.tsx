import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useCan } from '../../api/session.ts'
import { type Workflow, workflowsQuery } from '../../api/workflows.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { figure } from '../../ui/figure.ts'
import { FileUp, Plus, Sparkles, Table2 } from '../../ui/icons.tsx'
import { NameLink } from '../../ui/name-link.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
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
      <NameLink to="/workflows/$workflowId" params={{ workflowId: workflow_id }}>
        {name}
      </NameLink>
    ),
  },
  {
    name: 'Last run',
    sortBy: ({ last_run }) => last_run?.at ?? '',
    cell: ({ last_run }) => <LastRun run={last_run} />,
  },
  {
    name: 'Changed',
    wideOnly: true,
    sortBy: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <TimeText at={updated_at} />,
  },
  {
    name: 'Owner',
    wideOnly: true,
    sortBy: ({ is_owner, owner }) => (is_owner ? '' : (owner ?? '')),
    cell: (workflow) => <Ownership workflow={workflow} />,
  },
  {
    name: 'Actions',
    hideName: true,
    align: 'right',
    cell: (workflow) => <WorkflowActions workflow={workflow} />,
  },
]

export function Screen() {
  const workflows = useQuery({
    ...workflowsQuery,
    refetchInterval: ({ state }) =>
      state.data?.some(({ last_run }) => last_run?.state === 'running') === true ? 2000 : 5000,
  })
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
  const isEmpty = all?.length === 0
  return (
    <Page
      title="Workflows"
      actions={
        canWrite && (
          <>
            {all !== undefined && all.length > 0 && <OpenDemo demo={demo} kind="plain" />}
            <Button kind={isEmpty ? 'plain' : 'primary'} icon={Plus} onClick={() => setMaking('blank')}>
              New workflow
            </Button>
          </>
        )
      }
    >
      <SearchBox label="Search workflows" value={words} onChange={setWords} className="md:max-w-[320px]" />
      {found === undefined ? (
        <Skeleton />
      ) : isEmpty ? (
        <NoWorkflows>
          {canWrite && (
            <>
              <OpenDemo demo={demo} kind="primary" />
              <Button icon={FileUp} onClick={() => setMaking('file')}>
                Start from a file
              </Button>
            </>
          )}
        </NoWorkflows>
      ) : found.length === 0 ? (
        <EmptyState icon={Table2} title="No results" text={`No workflow name contains “${words.trim()}”.`}>
          <Button onClick={() => setWords('')}>Clear search</Button>
        </EmptyState>
      ) : (
        <Table
          label="Workflows"
          columns={COLUMNS}
          items={found}
          getKey={({ workflow_id }) => workflow_id}
          order={order}
          onOrder={setOrder}
        />
      )}
      <p aria-live="polite" className="sr-only">
        {found === undefined ? '' : `${found.length} ${found.length === 1 ? 'workflow' : 'workflows'}`}
      </p>
      {isMaking !== null && <NewWorkflow then={isMaking} onClose={() => setMaking(null)} />}
    </Page>
  )
}

function NoWorkflows({ children }: { children: ReactNode }) {
  return (
    <EmptyState
      icon={Table2}
      title="No workflows yet"
      text="A workflow is a table that fills itself: you add rows, and actions run on each of them. The demo shows how it works, needs no key and costs 0 credits."
    >
      {children}
    </EmptyState>
  )
}

type OpenDemoProps = { demo: ReturnType<typeof useOpenDemo>; kind: 'primary' | 'plain' }

function OpenDemo({ demo, kind }: OpenDemoProps) {
  return (
    <Button kind={kind} icon={Sparkles} busy={demo.isPending} onClick={() => demo.mutate()}>
      Open the demo workflow
    </Button>
  )
}

function LastRun({ run }: { run: Workflow['last_run'] }) {
  if (run === null) return <TimeText at={null} />
  if (run.state === 'running') {
    return (
      <span className="block w-24">
        <ProgressBar label="Progress of the last run" value={run.rows_done} max={run.rows_queued} />
      </span>
    )
  }
  return (
    <>
      <TimeText at={run.at} />
      {run.cells_failed > 0 && (
        <span className="text-12 whitespace-nowrap text-failed">{` ${figure(run.cells_failed)} failed`}</span>
      )}
      {run.state === 'stopped' && <span className="text-12 text-muted"> stopped</span>}
    </>
  )
}

function Ownership({ workflow: { is_owner, owner, shared_with } }: { workflow: Workflow }) {
  return (
    <span className="break-words">
      {is_owner ? 'You' : (owner ?? 'No owner')}
      {shared_with > 0 && <span className="text-muted">{`, shared with ${figure(shared_with)}`}</span>}
    </span>
  )
}
