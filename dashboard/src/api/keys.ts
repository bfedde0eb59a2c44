import type { Call } from './calls.ts'
import type { Selection, Sort } from './selection.ts'

declare const made: unique symbol
/** The key of a query, made by this file only. A key written elsewhere is an error of types. */
type Key = readonly unknown[] & { readonly [made]: true }

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: Key
  }
}

const key = (...parts: readonly unknown[]) => parts as Key

/** The keys of all queries. Invalidating a key also invalidates those that start with it. */
export const keys = {
  session: key('session'),
  organisations: key('organisations'),
  user: key('user'),
  signInWays: key('sign-in'),
  signInChoices: key('sign-in', 'organisations'),
  signInLink: (token: string) => key('sign-in', token),
  invitation: (token: string) => key('invitation', token),

  catalogue: key('catalogue'),
  template: (actionId: string) => key('catalogue', actionId),
  workflows: key('workflows'),
  workflow: (id: string) => key('workflows', id),
  sharing: (workflowId: string) => key('workflows', workflowId, 'share'),
  sheet: (id: string) => buildSheetKeys(id),
  estimate: ({ path, body }: Call<unknown>) => key('estimate', path, body),
  outputs: (url: string | undefined) => key('outputs', url),
  file: (ref: string | undefined, worksheet: string | null) => key('file', ref, worksheet),

  shortcuts: key('shortcuts'),
  shortcut: (id: string) => key('shortcuts', id),
  shortcutVersions: (id: string) => key('shortcuts', id, 'versions'),
  shortcutRuns: (id: string) => key('shortcuts', id, 'runs'),
  shortcutRunPage: (id: string, offset: number) => key('shortcuts', id, 'runs', 'page', offset),
  shortcutRun: (id: string, runId: string | undefined) => key('shortcuts', id, 'runs', runId),

  sources: key('sources'),
  source: (id: string) => key('sources', id),
  sourceRecords: (id: string, page: number, count: number) => key('sources', id, 'records', page, count),
  sourceTypes: key('source-types'),
  sourceOptions: (sourceId: string, field: string, context: string) =>
    key('source-options', sourceId, field, context),

  sourcePreview: (sourceId: string, body: string) => key('source-preview', sourceId, body),

  record: (id: string) => key('record', id),
  records: (kind: string, words: string) => key('records', kind, words),
  recordFields: (kind: string) => key('record-fields', kind),
  segments: key('segments'),
  segment: (id: string) => key('segments', id),
  segmentMembers: (id: string) => key('segments', id, 'members'),
  syncs: key('syncs'),

  credits: key('credits'),
  usage: (from: string, group: string) => key('usage', from, group),
  budgets: key('budgets'),

  members: key('members'),
  removalImpact: (email: string) => key('members', email, 'impact'),
  apiKeys: key('keys'),
  providers: key('providers'),
  connections: key('connections'),
  environment: key('environment'),
  sessions: key('sessions'),
  audit: (actor: string, action: string) => key('audit', actor, action),
  health: key('health'),
}

function buildSheetKeys(id: string) {
  return {
    inputs: key('sheet', id, 'inputs'),
    actions: key('sheet', id, 'actions'),
    configurations: key('sheet', id, 'action'),
    configuration: (action: string) => key('sheet', id, 'action', action),
    suggestions: key('sheet', id, 'suggestions'),
    waterfall: (action: string, field: string) => key('sheet', id, 'action', action, 'waterfall', field),
    tested: (path: string) => key('sheet', id, 'test', path),
    rowsNamed: (words: string) => key('sheet', id, 'cell', 'found', words),
    options: (action: string, field: string, context = '') =>
      key('sheet', id, 'options', action, field, context),
    totals: key('sheet', id, 'count'),
    cells: key('sheet', id, 'cell'),
    row: (rowId: string) => key('sheet', id, 'cell', rowId),
    cell: (rowId: string, action: string) => key('sheet', id, 'cell', rowId, action),
    position: (rowId: string, selection: Selection, sort: Sort) =>
      key('sheet', id, 'number', rowId, selection, sort),
    results: (action: string, selection: Selection) => key('sheet', id, 'count', action, selection),
    views: key('sheet', id, 'views'),
    statistics: (column: string, selection: Selection) => key('sheet', id, 'statistics', column, selection),
    rowPage: (rowId: string, neighbours: unknown) => key('sheet', id, 'cell', rowId, 'page', neighbours),
    rowPlace: (rowId: string) => key('sheet', id, 'number', rowId),
    rowHistory: (rowId: string) => key('sheet', id, 'cell', rowId, 'history'),
    comments: key('sheet', id, 'comments'),
    commentsOf: (rowId: string) => key('sheet', id, 'comments', rowId),
    commentFeed: (resolved: string) => key('sheet', id, 'comments', 'feed', resolved),
    runs: key('sheet', id, 'runs'),
    causes: (runId: string) => key('sheet', id, 'runs', 'causes', runId),
    import: key('sheet', id, 'import'),
    rejects: key('sheet', id, 'import', 'rejects'),
    export: (exportId: string) => key('sheet', id, 'export', exportId),
    schedule: key('sheet', id, 'schedule'),
    webhook: key('sheet', id, 'webhook'),
  }
}
