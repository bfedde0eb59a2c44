import type { Workflow } from '../../api/workflows.ts'

/** The views of the list of workflows, in the order in which they are offered. */
export const VIEWS = ['All', 'Recent', 'Running', 'Failed'] as const
export type View = (typeof VIEWS)[number]

const RECENT_MS = 7 * 24 * 3600 * 1000

/** Returns true if the view has the workflow: for `Recent` one that was changed or run within a week. */
export function isInView({ updated_at, last_run }: Workflow, view: View, now: number): boolean {
  switch (view) {
    case 'All':
      return true
    case 'Recent':
      return now - Math.max(Date.parse(updated_at), Date.parse(last_run?.at ?? updated_at)) < RECENT_MS
    case 'Running':
      return last_run?.state === 'running'
    case 'Failed':
      return last_run !== null && last_run.state !== 'running' && last_run.cells_failed > 0
  }
}

/** Returns the workflows of the view whose names contain the words. */
export function showWorkflows(
  workflows: readonly Workflow[],
  { view, words, now }: { view: View; words: string; now: number },
): Workflow[] {
  const wanted = words.trim().toLowerCase()
  return workflows.filter(
    (workflow) => isInView(workflow, view, now) && workflow.name.toLowerCase().includes(wanted),
  )
}
