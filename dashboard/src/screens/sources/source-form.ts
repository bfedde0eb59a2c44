import type { SourceType } from '#contract/screens.ts'

export type { SourceType }
export type SourceField = SourceType['fields'][number]
export type SimpleField = SourceField['fields'][number]
/** The typed texts, by the path of their field, such as `filters[0].values`. */
export type Typed = Readonly<Record<string, string>>

/** The state that the controls of a form share. */
export type SourceForm = {
  sourceId: string
  providers: readonly string[]
  /** The labels of the fields by their name in the API. */
  labels: Readonly<Record<string, string>>
  typed: Typed
  onType: (change: Record<string, string>) => void
  error: unknown
}
