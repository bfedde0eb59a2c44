import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SheetBody, sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { View } from '../../../api/views.ts'
import type { Column, Layout } from '../columns.ts'
import type { SheetAddress } from '../sheet-address.ts'
import { columnsOfLayout, isSameLayout, layoutOfView } from './view-columns.ts'

type Parts = {
  views: readonly View[]
  view: View | undefined
  columns: readonly Column[]
  layout: Layout
  /** Drops the layout that this person has not saved in the view. */
  dropLayout: () => void
  address: SheetAddress
}

/** The views of the sheet: the open one, whether it was changed here, and what can be done with it. */
export function useViews(sheet: SheetId, parts: Parts) {
  const queries = useQueryClient()
  const { views, view, columns, layout, dropLayout, address } = parts
  return useMemo(() => {
    const { sheetId } = sheet
    const isChanged =
      view !== undefined && (address.hasChanges || !isSameLayout(columns, layout, layoutOfView(view)))
    const settings = () => {
      const { filters, status_filters, created_at } = address.selection
      return {
        filters,
        status_filters,
        created_at,
        sort: address.sort,
        groups: address.groups,
        columns: columnsOfLayout(columns, layout, view),
        row_height: layout.rowHeight,
      }
    }
    const refresh = () => queries.invalidateQueries({ queryKey: keys.sheet(sheetId).views })
    const change = async (id: string, body: SheetBody<'PATCH /views/:view_id'>) => {
      await send(sheetCall(sheet, 'PATCH /views/:view_id', { params: { view_id: id }, body }))
      await refresh()
    }
    const revert = () => {
      dropLayout()
      address.openView(view?.is_default === true ? null : (view?.view_id ?? null))
    }
    return {
      views,
      view,
      isChanged,
      open: ({ view_id, is_default }: View) => address.openView(is_default ? null : view_id),
      revert,
      async save() {
        if (view === undefined) return
        await change(view.view_id, settings())
        revert()
      },
      async create(name: string, visibility: View['visibility']) {
        const body = { name, visibility, ...settings() }
        const made = await fetchData(sheetCall(sheet, 'POST /views', { body }))
        await refresh()
        // The new view has the changes that were made here.
        dropLayout()
        address.openView(made.view_id)
      },
      change,
      async remove({ view_id }: View) {
        address.openView(null)
        await send(sheetCall(sheet, 'DELETE /views/:view_id', { params: { view_id } }))
        await refresh()
      },
    }
  }, [sheet, queries, views, view, columns, layout, dropLayout, address])
}

export type SheetViews = ReturnType<typeof useViews>
