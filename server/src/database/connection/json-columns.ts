import type { OutputType } from '#contract/actions.ts'
import type { ExportExtra } from '#contract/exports.ts'
import type { ShortcutInput } from '#contract/shortcuts.ts'
import type { InputType } from '../../catalog/chain/definition.ts'
import type { Selection } from '../tables/selection.ts'

/** An output of an action that appeared in a run. */
export type DiscoveredOutput = {
  name: string
  type: OutputType
  columns?: { name: string; type: OutputType }[]
  anyType?: true
}

/** The rows that an export includes. */
export type ExportSelection = Omit<Selection, 'createdAt'> & {
  createdAt?: Selection['createdAt']
  rowIds?: string[]
  excludeRowIds?: string[]
  /** The stored order of the rows. */
  order?: { order_id: string; total: number }
}

/** The columns of an export: the sheet as it was when the export was requested. */
export type ExportPlan = {
  inputs: { name: string; column: number; isNumber?: boolean; as?: 'date' | 'boolean' }[]
  /** `open` is true if cells may hold outputs beyond the known ones. */
  actions: { id: string; name: string; outputs: string[]; numbers?: string[]; open: boolean }[]
  /** The extra columns of each action beside its outputs. */
  include?: ExportExtra[]
  /** The columns of a view, in their order. Columns that it does not list follow; `hidden` ones are left out. */
  view?: ViewedColumn[]
  /** Tells whether a CSV begins with a byte order mark. */
  bom?: boolean
}

/** A column of a view in an export: an input, all outputs of an action, or a value of an action under a name. */
export type ViewedColumn = { hidden?: boolean } & (
  | { column: number }
  | { action: string }
  | { action: string; output: string; steps?: readonly (string | number)[]; whole?: string; header?: string }
)

/** An input field of a shortcut, with the column of the frozen definition that it fills. */
export type FrozenInput = ShortcutInput & { column: number }

/** An output field of a shortcut. `reference` is the token of the output that it shows. */
export type FrozenOutput = {
  name: string
  reference: string
  description?: string
  display_column?: string | boolean
}

/** The values of one input that a warning is about: how many, and the places of the first ones. */
export type ValuePlaces = { name: string; count: number; places: number[] }

/** The values that do not fit the type of their input (D79). */
export type Mismatches = ValuePlaces & { type: InputType }
