import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { SheetId } from '../../api/calls.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { actionsQuery, inputsQuery } from '../../api/sheet.ts'
import { findView, viewsQuery, type View } from '../../api/views.ts'
import { watchSheet } from './change-stream.ts'
import { buildColumns, placeColumns } from './columns.ts'
import { createConnection } from './connection.ts'
import { createHistory } from './history.ts'
import type { RowStore } from './row-store.ts'
import { useLayout } from './saved-layout.ts'
import { useSheetAddress } from './sheet-address.ts'
import type { SheetView } from './sheet-view.ts'
import { createViewState } from './view-state.ts'
import { useViews } from './views/use-views.ts'

const NO_VIEWS: readonly View[] = []

/** The minimum interval between reads of counts and runs, which cost the server more than rows. */
const COUNTS_MS = 500

/** Creates the state that the parts of the screen share, and keeps it up to date with the server. */
export function useSheetView(given: SheetId, workflowName: string, rows: RowStore): SheetView {
  const { data: views = NO_VIEWS } = useQuery(viewsQuery(given))
  const query = useSearch({ from: '/frame/workflows/$workflowId/sheets/$sheetId' })
  const view = findView(views, query.view)
  const address = useSheetAddress(view)
  const can = useCan()
  const { data: inputs = [] } = useQuery(inputsQuery(given))
  const { data: actions = [] } = useQuery(actionsQuery(given))
  const [state] = useState(createViewState)
  const [history] = useState(createHistory)
  const [connection] = useState(createConnection)
  const { sheetId, workflowId } = given
  // The same object as long as it is the same sheet, because effects depend on it.
  const sheet = useMemo(() => ({ sheetId, workflowId }), [sheetId, workflowId])
  useChosenRows(rows, state, address)
  const refreshes = useRefreshes(sheet, rows)
  const { refresh, refreshDefinition } = refreshes
  useLiveChanges(sheet, rows, refreshes, connection)

  const columns = useMemo(() => buildColumns(inputs, actions), [inputs, actions])
  const { layout, setLayout, showLayout, dropLayout } = useLayout(sheet, { view, columns, history })
  const placed = useMemo(() => placeColumns(columns, layout), [columns, layout])
  const viewParts = useMemo(
    () => ({ views, view, columns, layout, dropLayout, address }),
    [views, view, columns, layout, dropLayout, address],
  )
  const sheetViews = useViews(sheet, viewParts)
  const [edit, configure, editActions, run] = [
    can('workflows:data:write'),
    can('workflows:write'),
    can('actions:write'),
    can('workflows:run'),
  ]
  return useMemo(
    () => ({
      sheet,
      workflowName,
      rows,
      state,
      history,
      columns,
      placed,
      layout,
      setLayout,
      showLayout,
      connection,
      address,
      views: sheetViews,
      can: { edit, configure, editActions, run },
      refresh,
      refreshDefinition,
    }),
    [
      sheet,
      workflowName,
      rows,
      state,
      history,
      columns,
      placed,
      layout,
      setLayout,
      showLayout,
      connection,
      address,
      sheetViews,
      edit,
      configure,
      editActions,
      run,
      refresh,
      refreshDefinition,
    ],
  )
}

/** Loads the rows that the address chooses, in its order. */
function useChosenRows(
  rows: RowStore,
  state: ReturnType<typeof createViewState>,
  { selection, sort }: ReturnType<typeof useSheetAddress>,
): void {
  const key = JSON.stringify([selection, sort])
  // The rows began to load before the view was known.
  const lastKey = useRef(JSON.stringify([rows.selection, rows.sort]))
  useEffect(() => {
    if (lastKey.current === key) return
    lastKey.current = key
    state.getState().clearSelection()
    const [chosen, order] = JSON.parse(key)
    rows.select(chosen, order)
  }, [rows, state, key])
}

/** Returns the functions that read again what has changed. */
function useRefreshes({ sheetId }: SheetId, rows: RowStore) {
  const queries = useQueryClient()
  const counts = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const refreshCounts = useCallback(() => {
    counts.current ??= setTimeout(() => {
      counts.current = undefined
      const { totals, cells, runs } = keys.sheet(sheetId)
      for (const queryKey of [totals, cells, runs]) void queries.invalidateQueries({ queryKey })
    }, COUNTS_MS)
  }, [queries, sheetId])
  const refresh = useCallback(() => {
    void rows.refresh()
    refreshCounts()
  }, [rows, refreshCounts])

  const refreshDefinition = useCallback(async () => {
    const { inputs, actions, configurations, views } = keys.sheet(sheetId)
    await Promise.all(
      [inputs, actions, configurations, views].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  }, [queries, sheetId])

  useEffect(
    () => () => {
      clearTimeout(counts.current)
      counts.current = undefined
    },
    [sheetId],
  )
  return { refresh, refreshCounts, refreshDefinition }
}

/** Reads again what the server says has changed. */
function useLiveChanges(
  { sheetId, workflowId }: SheetId,
  rows: RowStore,
  { refreshCounts, refreshDefinition }: ReturnType<typeof useRefreshes>,
  connection: ReturnType<typeof createConnection>,
): void {
  const queries = useQueryClient()
  const revision = useRef<number | null>(null)
  const names = useRef<string | null>(null)
  useEffect(() => {
    const stop = watchSheet(
      { sheetId, workflowId },
      {
        onChange: (change) => {
          if (change !== null) {
            const isNewRevision = revision.current !== null && revision.current !== change.revision
            revision.current = change.revision
            if (isNewRevision) void refreshDefinition()
            // A colleague may have renamed the workflow or its sheets, or added or deleted a sheet.
            const hasNewNames = names.current !== null && names.current !== change.names
            names.current = change.names
            if (hasNewNames) void queries.invalidateQueries({ queryKey: keys.workflows })
          }
          rows.refreshSoon()
          refreshCounts()
        },
        onStreaming: (isStreaming) =>
          connection.setState(({ hadStream }) => ({ isStreaming, hadStream: hadStream || isStreaming })),
      },
    )
    return stop
  }, [rows, queries, refreshCounts, refreshDefinition, connection, sheetId, workflowId])
}
