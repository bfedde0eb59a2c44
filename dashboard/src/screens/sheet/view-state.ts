import { createStore } from 'zustand'

/** A position in the grid. Row -1 is the header; column 0 holds the checkboxes. */
export type Place = { row: number; column: number }
export type Area = { from: Place; to: Place }

type Selected = { all: boolean; ids: ReadonlySet<string> }
const NOTHING: Selected = { all: false, ids: new Set() }

type ViewState = {
  active: Place
  /** The other corner of the range; equal to `active` for a single cell. */
  anchor: Place
  editing: { place: Place; text: string } | null
  /** The selected rows. If `all` is true, the ids are the deselected rows. */
  selected: Selected
  /** The number of requests so far to move the focus to the active cell. */
  focusRequests: number
  /** A value that the next panel of an action puts into one of its fields. */
  carried: { token: string; name: string } | null
  carry: (carried: ViewState['carried']) => void
  goTo: (place: Place, extend?: boolean) => void
  focusActive: () => void
  edit: (editing: ViewState['editing']) => void
  toggleRow: (rowId: string) => void
  selectAll: (all: boolean) => void
  clearSelection: () => void
}

export const createViewState = () =>
  createStore<ViewState>((set) => ({
    active: { row: 0, column: 1 },
    anchor: { row: 0, column: 1 },
    editing: null,
    selected: NOTHING,
    focusRequests: 0,
    carried: null,
    carry: (carried) => set({ carried }),
    focusActive: () => set(({ focusRequests }) => ({ focusRequests: focusRequests + 1 })),
    goTo: (place, extend = false) =>
      set(({ anchor }) => ({ active: place, anchor: extend ? anchor : place, editing: null })),
    edit: (editing) => set({ editing }),
    toggleRow: (rowId) =>
      set(({ selected: { all, ids } }) => {
        const next = new Set(ids)
        if (!next.delete(rowId)) next.add(rowId)
        return { selected: { all, ids: next } }
      }),
    selectAll: (all) => set({ selected: { all, ids: new Set() } }),
    clearSelection: () => set({ selected: NOTHING }),
  }))

export const isSelected = ({ all, ids }: Selected, rowId: string | undefined) =>
  rowId !== undefined && ids.has(rowId) !== all

export const countSelected = ({ all, ids }: Selected, total: number) => (all ? total - ids.size : ids.size)

export function getSelectedArea({ active, anchor }: Pick<ViewState, 'active' | 'anchor'>): Area {
  return {
    from: { row: Math.min(active.row, anchor.row), column: Math.min(active.column, anchor.column) },
    to: { row: Math.max(active.row, anchor.row), column: Math.max(active.column, anchor.column) },
  }
}
