import { useRouter, useRouterState, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { readGroups, readSelection, readSort } from '../../api/selection-address.ts'
import type { Sort } from '../../api/selection.ts'
import type { Selection } from '../../api/sheet.ts'
import { NO_VIEW, type ViewRows } from '../../api/views.ts'
import { isSame } from './views/same.ts'

/** The open parts of a sheet. They are in its address, so that a link opens the same view. */
export type Opened = {
  row: string | null
  cell: string | null
  action: string | null
  add: boolean
  /** The column whose statistics are shown. */
  statistics: string | null
  /** An action that is configured before it is added. */
  draft: { template: string; after: string | null; given: string | null } | null
  /** The action after which the gallery adds the chosen one; `input` is the start of the chain. */
  after: string | null
}

/** Returns the address of the page of a row from that of its sheet. */
function rowAddress(href: string, row: string): string {
  const { pathname, searchParams } = new URL(href, location.origin)
  const view = searchParams.get('view')
  return `${pathname}/rows/${row}${view === null ? '' : `?view=${encodeURIComponent(view)}`}`
}

/** The parts of an address that differ from the view, until they are saved in it. */
const VIEW_PARTS = ['filters', 'status_filters', 'created_at', 'sort', 'groups'] as const

/** The parts of an address that open a panel, all closed. */
const close = {
  row: null,
  cell: null,
  action: null,
  add: null,
  draft: null,
  after: null,
  given: null,
  statistics: null,
}

type OpenedQuery = Partial<
  Record<'row' | 'cell' | 'action' | 'add' | 'statistics' | 'draft' | 'after' | 'given', string | undefined>
>

function readOpened({ row, cell, action, add, statistics, draft, after, given }: OpenedQuery): Opened {
  return {
    row: row ?? null,
    cell: cell ?? null,
    action: action ?? null,
    add: add !== undefined,
    statistics: statistics ?? null,
    draft: draft === undefined ? null : { template: draft, after: after ?? null, given: given ?? null },
    after: after ?? null,
  }
}

/** Returns what the address opens. The rows that it does not name are those of the view. */
export function useSheetAddress(view: ViewRows = NO_VIEW) {
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
    const selection = readSelection(query, view)
    const sort = readSort(query, view)
    const groups = readGroups(query, view)
    const present = { ...selection, sort, groups }
    /** Returns the text of a part for the address, or null if it is as in the view. */
    const print = <Part extends keyof ViewRows>(part: Part, value: ViewRows[Part]) =>
      isSame(value, view[part]) ? null : JSON.stringify(value)
    return {
      opened: readOpened(query),
      selection,
      sort,
      groups,
      /** Set if the rows, their order or their groups differ from the view. */
      hasChanges: VIEW_PARTS.some((part) => !isSame(present[part], view[part])),
      sortRows: (next: Sort) => change({ sort: print('sort', next) }, true),
      groupRows: (next: ViewRows['groups']) => change({ groups: print('groups', next) }, true),
      /** Opens a view as it was saved; null is the default one. */
      openView: (id: string | null) =>
        change({ ...Object.fromEntries(VIEW_PARTS.map((part) => [part, null])), view: id, cause: null }),
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
      /** Opens the page of a row. Its neighbours are those in the view of the address. */
      openRow: (row: string) => history.push(rowAddress(href, row)),
      openStatistics: (statistics: string) => change({ ...close, statistics }),
      closePanel: () => change(close),
      select: ({ filters, status_filters, created_at, find, cause }: Selection) =>
        change(
          {
            filters: print('filters', filters),
            status_filters: print('status_filters', status_filters),
            created_at: print('created_at', created_at),
            find: find === '' ? null : find,
            cause: cause === '' ? null : cause,
          },
          true,
        ),
    }
  }, [history, href, query, view])
}

export type SheetAddress = ReturnType<typeof useSheetAddress>
