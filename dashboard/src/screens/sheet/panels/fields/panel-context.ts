import { createContext, useContext } from 'react'
import type { CatalogueAction } from '../../../../api/catalogue.ts'
import type { GraphNode } from '../../../../api/sheet.ts'

export type Descriptor = CatalogueAction['inputs'][number]

/** The props of the control of one input. */
export type FieldProps = {
  field: Descriptor
  value: unknown
  onChange: (value: unknown) => void
  problem: string | undefined
}

/** The facts about an action that its fields share. */
export type PanelFacts = {
  template: CatalogueAction
  /** The saved action; null while a new one is not added yet. */
  node: GraphNode | null
  /** The values of all inputs, with unsaved changes. */
  values: Readonly<Record<string, unknown>>
  showsApiNames: boolean
  /** The warnings of each field in words, by its name. */
  notices: Readonly<Record<string, string>>
  /** Tells the panel that a field cannot be saved as it is, or that it can again. */
  setFault: (field: string, fault: string | null) => void
}

export const PanelContext = createContext<PanelFacts | null>(null)

export function usePanel(): PanelFacts {
  const facts = useContext(PanelContext)
  if (facts === null) throw new Error('usePanel must be used inside an action panel')
  return facts
}

/** Returns the facts of the panel around, or null where conditions are edited without one. */
export const usePanelIfAny = (): PanelFacts | null => useContext(PanelContext)
