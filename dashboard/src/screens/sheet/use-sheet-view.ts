import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { SheetId } from '../../api/calls.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { actionsQuery, inputsQuery } from '../../api/sheet.ts'
import { watchSheet } from './change-stream.ts'
import { buildColumns, hasLayout, storeLayout, type Layout, placeColumns, readLayout } from './columns.ts'
import { createConnection } from './connection.ts'
import { createHistory } from './history.ts'
import type { RowStore } from './row-store.ts'
import { loadLayout, saveLayout } from './saved-layout.ts'
import { useSheetAddress } from './sheet-address.ts'
import type { SheetView } from './sheet-view.ts'
import { createViewState } from './view-state.ts'

/** The minimum interval between reads of counts and runs, which cost the server more than rows. */
const COUNTS_MS = 500

/** Creates the state that the parts of the screen share, and keeps it up to date with the server. */
export function useSheetView(sheet: SheetId, workflowName: string, rows: RowStore): SheetView {
  const queries = useQueryClient()
  const address = useSheetAddress()
  const can = useCan()
  const { data: inputs = [] } = useQuery(inputsQuery(sheet))
  const { data: actions = [] } = useQuery(actionsQuery(sheet))
  const [state] = useState(createViewState)
  const [history] = useState(createHistory)
  const [connection] = useState(createConnection)
  const [layout, showLayout] = useState(() => readLayout(sheet))
  const { sheetId, workflowId } = sheet

  const key = JSON.stringify(address.selection)
  const lastKey = useRef(key)
  useEffect(() => {
    if (lastKey.current === key) return
    lastKey.current = key
    state.getState().clearSelection()
    rows.select(JSON.parse(key))
  }, [rows, state, key])

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
    const { inputs, actions, configurations } = keys.sheet(sheetId)
    await Promise.all(
      [inputs, actions, configurations].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  }, [queries, sheetId])

  const revision = useRef<number | null>(null)
  const names = useRef<string | null>(null)
  const lastLayout = useRef(layout)
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
    return () => {
      stop()
      clearTimeout(counts.current)
      counts.current = undefined
    }
  }, [rows, queries, refreshCounts, refreshDefinition, connection, sheetId, workflowId])

  useEffect(() => {
    const ended = new AbortController()
    const opened = { sheetId, workflowId }
    if (hasLayout(opened)) return undefined
    void loadLayout(opened, ended.signal, (saved) => {
      if (hasLayout(opened)) return
      lastLayout.current = saved
      showLayout(saved)
    })
    return () => ended.abort()
  }, [sheetId, workflowId])

  const setLayout = useCallback(
    (next: Layout) => {
      const put = (one: Layout) => {
        lastLayout.current = one
        storeLayout({ sheetId, workflowId }, one)
        saveLayout({ sheetId, workflowId }, one)
        showLayout(one)
      }
      const before = lastLayout.current
      put(next)
      history.getState().push({ name: 'layout', undo: async () => put(before), redo: async () => put(next) })
    },
    [history, sheetId, workflowId],
  )

  // The same object as long as it is the same sheet, because effects depend on it.
  const opened = useMemo(() => ({ sheetId, workflowId }), [sheetId, workflowId])
  const columns = useMemo(() => buildColumns(inputs, actions), [inputs, actions])
  const placed = useMemo(() => placeColumns(columns, layout), [columns, layout])
  const [edit, configure, editActions, run] = [
    can('workflows:data:write'),
    can('workflows:write'),
    can('actions:write'),
    can('workflows:run'),
  ]
  return useMemo(
    () => ({
      sheet: opened,
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
      can: { edit, configure, editActions, run },
      refresh,
      refreshDefinition,
    }),
    [
      opened,
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
      edit,
      configure,
      editActions,
      run,
      refresh,
      refreshDefinition,
    ],
  )
}
