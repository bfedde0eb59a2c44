import type { Typed } from './source-types.ts'

/** The state that the controls of a form share. */
export type SourceForm = {
  sourceId: string
  providers: readonly string[]
  typed: Typed
  onType: (change: Record<string, string>) => void
  error: unknown
}
