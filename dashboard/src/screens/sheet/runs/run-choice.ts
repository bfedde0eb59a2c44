import { isFiltered, type Selection, selectionBody } from '../../../api/sheet.ts'

/** A choice of rows to run, for all actions or for a single column. */
export type RunChoice =
  | { kind: 'first' | 'filtered' | 'failed' | 'unfinished' | 'all' }
  | { kind: 'rows'; ids: readonly string[] }
  | { kind: 'column'; action: string }
  | { kind: 'cell'; action: string; rowId: string }

export type RunRequest = { path: string; body: Record<string, unknown> }

/** Returns the request that runs the choice, and the body that estimates its cost. */
export function buildRequests(
  choice: RunChoice,
  selection: Selection,
): { run: RunRequest; estimate: Record<string, unknown> } {
  switch (choice.kind) {
    case 'first':
      return { run: { path: '/run', body: { first_10: true } }, estimate: { first_10: true } }
    case 'rows':
      return { run: { path: '/run', body: { row_ids: choice.ids } }, estimate: { row_ids: choice.ids } }
    case 'filtered':
      return isFiltered(selection)
        ? { run: { path: '/run', body: selectionBody(selection) }, estimate: selectionBody(selection) }
        : buildRequests({ kind: 'all' }, selection)
    case 'failed':
      return {
        run: { path: '/run-all', body: { only: 'failed' } },
        estimate: { only: 'failed' },
      }
    case 'unfinished':
      return { run: { path: '/run-all', body: { only: 'unfinished' } }, estimate: { only: 'unfinished' } }
    case 'all':
      return { run: { path: '/run-all', body: {} }, estimate: { all: true } }
    case 'column': {
      const rows = selectionBody(selection)
      const estimate = isFiltered(selection) ? rows : { all: true }
      return {
        run: { path: `/actions/${encodeURIComponent(choice.action)}/run`, body: rows },
        estimate: { ...estimate, action_instance_id: choice.action },
      }
    }
    case 'cell':
      return {
        run: { path: `/actions/${encodeURIComponent(choice.action)}/run`, body: { row_ids: [choice.rowId] } },
        estimate: { row_ids: [choice.rowId], action_instance_id: choice.action },
      }
  }
}
