import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useCan } from '../../api/session.ts'
import { type Workflow, workflowsQuery } from '../../api/workflows.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { figure } from '../../ui/figure.ts'
import { Plus, Table2 } from '../../ui/icons.tsx'
import { NameLink } from '../../ui/name-link.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, type Order, Table } from '../../ui/table.tsx'
import { SearchBox } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { NewWorkflow } from './new-workflow.tsx'
import { useOpenDemo } from './open-demo.ts'
import { showWorkflows, type View } from './shown-workflows.ts'
import { SourcesToMend } from './sources-to-mend.tsx'
import { StartButtons } from './start-buttons.tsx'
import { ViewButtons } from './view-buttons.tsx'
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
  const [view, setView] = useState<View>('All')
  const [order, setOrder] = useState<Order>({ column: 'Changed', descending: true })
  const [isMaking, setMaking] = useState(false)
  const demo = useOpenDemo()
  if (workflows.error !== null && workflows.data === undefined) {
    return <Refusal error={workflows.error} title="Workflows" onRetry={() => void workflows.refetch()} />
  }
  const all = workflows.data
  const found = all === undefined ? undefined : showWorkflows(all, { view, words, now: Date.now() })
  const canWrite = can('workflows:write')
  const isEmpty = all?.length === 0
  const clear = () => {
    setWords('')
    setView('All')
  }
  return (
    <Page
      title="Workflows"
      actions={
        canWrite && (
          <>
            {all !== undefined && !isEmpty && <StartButtons demo={demo} isPrimary={false} />}
            <Button kind={isEmpty ? 'plain' : 'primary'} icon={Plus} onClick={() => setMaking(true)}>
              New workflow
            </Button>
          </>
        )
      }
    >
      <SourcesToMend />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <SearchBox label="Search workflows" value={words} onChange={setWords} className="md:w-[320px]!" />
        {all !== undefined && !isEmpty && <ViewButtons workflows={all} view={view} onView={setView} />}
      </div>
      {found === undefined ? (
        <Skeleton />
      ) : isEmpty ? (
        <NoWorkflows>{canWrite && <StartButtons demo={demo} isPrimary />}</NoWorkflows>
      ) : found.length === 0 ? (
        <NothingFound words={words.trim()} view={view} onClear={clear} />
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
      {isMaking && <NewWorkflow onClose={() => setMaking(false)} />}
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

const NONE_IN_VIEW: Record<View, string> = {
  All: 'There are no workflows.',
  Recent: 'No workflow was changed or run within the last 7 days.',
  Running: 'No workflow is running.',
  Failed: 'No last run of a workflow has failed cells.',
}

function NothingFound({ words, view, onClear }: { words: string; view: View; onClear: () => void }) {
  const text = words === '' ? NONE_IN_VIEW[view] : `No workflow name contains “${words}”.`
  return (
    <EmptyState icon={Table2} title="No results" text={text}>
      <Button onClick={onClear}>{words === '' ? 'Show all workflows' : 'Clear search'}</Button>
    </EmptyState>
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
