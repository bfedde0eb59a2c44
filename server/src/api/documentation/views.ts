import type { Operations } from './operation.ts'

const VIEWS_PATH = '/workflows/{workflow_id}/sheets/{sheet_id}/views'

export const VIEWS: Operations = {
  [`GET ${VIEWS_PATH}`]: {
    id: 'listViews',
    description:
      'The views of a sheet that you may see: shared ones and your own. The default view comes first, then the oldest.',
  },
  [`POST ${VIEWS_PATH}`]: {
    id: 'createView',
    description:
      'Names filters, order, groups and columns of a sheet. A column with a `path` shows a value of the answers of an action; a path that leads nowhere is saved with a warning.',
    body: {
      name: 'Without website',
      filters: [{ variable: '{{input.website}}', operator: 'is empty' }],
      sort: [{ variable: '{{input.company}}', direction: 'asc' }],
      columns: [{ variable: '{{input.company}}', width: 240, frozen: true }],
    },
  },
  [`GET ${VIEWS_PATH}/{view_id}`]: {
    id: 'getView',
    description: 'A view. A view that only its owner may see is 404 to all others.',
  },
  [`PATCH ${VIEWS_PATH}/{view_id}`]: {
    id: 'updateView',
    description:
      'Changes what the body names. `is_default: true` makes it the default view of the sheet, in place of the former one.',
    body: { name: 'No website yet', row_height: 48 },
  },
  [`DELETE ${VIEWS_PATH}/{view_id}`]: {
    id: 'deleteView',
    description: 'Deletes a view. The default view, and a view that a schedule runs, cannot be deleted.',
  },
}
