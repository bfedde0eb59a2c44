import { useRouter, useRouterState, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { readSelection, readSort } from '../../api/selection-address.ts'
import type { Sort } from '../../api/selection.ts'
import type { Selection } from '../../api/sheet.ts'

/** The open parts of a sheet. They are in its address, so that a link opens the same view. */
export type Opened = {
  row: string | null
  cell: string | null
  action: string | null
  add: boolean
  /** An action that is configured before it is added. */
  draft: { template: string; after: string | null; given: string | null } | null
  /** The action after which the gallery adds the chosen one; `input` is the start of the chain. */
  after: string | null
}

export function useSheetAddress() {
  const { history } = useRouter()
  const href = useRouterState({ select: (state) => state.location.href })
  const query = useSearch({ from: '/frame/workflows/$workflowId/sheets/$sheetId' })
  return useMemo(() => {
    const change = (changes: Record<string, string | null>, replace = false) => {
      const next = new URL(href, location.origin)
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) next.searchParams.delete(name)
        else next.searchParams.set(name, value)
      }
      const text = next.search.replace(/([?&]add)=(?=&|$)/, '$1')
      history[replace ? 'replace' : 'push'](`${next.pathname}${text}`)
    }
    const opened: Opened = {
      row: query.row ?? null,
      cell: query.cell ?? null,
      action: query.action ?? null,
      add: query.add !== undefined,
      draft:
        query.draft === undefined
          ? null
          : { template: query.draft, after: query.after ?? null, given: query.given ?? null },
      after: query.after ?? null,
    }
    const selection = readSelection(query)
    const close = { row: null, cell: null, action: null, add: null, draft: null, after: null, given: null }
    return {
      opened,
      selection,
      sort: readSort(query),
      sortRows: (sort: Sort) => change({ sort: sort.length === 0 ? null : JSON.stringify(sort) }, true),
      openCell: (row: string, cell: string) => change({ ...close, row, cell }),
      /** Shows another cell in the open panel, without a step in the history. */
      followCell: (row: string, cell: string) => change({ ...close, row, cell }, true),
      openAction: (action: string) => change({ ...close, action }),
      /** Opens the panel of an action that its first save adds: after another action, or at the end. */
      openDraft: (
        template: string,
        {
          after = null,
          inputs,
        }: { after?: string | null; inputs?: Record<string, unknown> | undefined } = {},
      ) =>
        change({
          ...close,
          draft: template,
          after,
          given: inputs === undefined ? null : JSON.stringify(inputs),
        }),
      /** Opens the gallery of actions. The chosen one is added after another (`input`: at the start), or at the end. */
      openAdd: (after: string | null = null) => change({ ...close, add: '', after }),
      closePanel: () => change(close),
      select: ({ filters, status_filters, find, cause }: Selection) =>
        change(
          {
            filters: filters.length === 0 ? null : JSON.stringify(filters),
            status_filters: status_filters.length === 0 ? null : JSON.stringify(status_filters),
            find: find === '' ? null : find,
            cause: cause === '' ? null : cause,
          },
          true,
        ),
    }
  }, [history, href, query])
}

export type SheetAddress = ReturnType<typeof useSheetAddress>
