import type { OutputType } from '#contract/actions.ts'
import type { ExportExtra } from '#contract/exports.ts'
import type { ShortcutInput } from '#contract/shortcuts.ts'
import type { InputType } from '../../catalog/chain/definition.ts'
import type { Selection } from '../tables/selection.ts'

/** An output that a run has shown. */
export type DiscoveredOutput = {
  name: string
  type: OutputType
  columns?: { name: string; type: OutputType }[]
  anyType?: true
}

/** The rows that an export was asked for. */
export type ExportSelection = Omit<Selection, 'createdAt'> & {
  createdAt?: Selection['createdAt']
  rowIds?: string[]
  excludeRowIds?: string[]
}

/** What the columns are made of: the sheet as it was when the export was asked for. */
export type ExportPlan = {
  inputs: { name: string; column: number; isNumber?: boolean }[]
  /** `open` when cells may hold outputs beyond those that are known. */
  actions: { id: string; name: string; outputs: string[]; numbers?: string[]; open: boolean }[]
  /** What each action has a column for beside its outputs. */
  include?: ExportExtra[]
  /** Whether a CSV begins with a byte order mark. */
  bom?: boolean
}

/** A field that goes in: the column of the frozen definition that it fills. */
export type FrozenInput = ShortcutInput & { column: number }

/** A field that comes out: `reference` is the token of the output it shows. */
export type FrozenOutput = {
  name: string
  reference: string
  description?: string
  display_column?: string | boolean
}

/** Values of one input that are warned of: how many, and the places of the first ones. */
export type ValuePlaces = { name: string; count: number; places: number[] }

/** Those that do not fit its type (D79). */
export type Mismatches = ValuePlaces & { type: InputType }
