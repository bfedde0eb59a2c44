import type { ProviderKeys } from '../catalog/provider-access.ts'
import type { Store } from '../store/db.ts'
import { getKnowledge } from '../store/organisations.ts'

/** What rows draw on beside their sheet when they run. */
export type RunSurroundings = {
  /** Values of environment variables, by key, as the sheet sees them. */
  envOf(sheet: { org_id: string; sheet_id: string }): Promise<ReadonlyMap<string, string>>
  keysOf(orgId: string): ProviderKeys
  knowledgeOf(orgId: string): Promise<string | null>
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Organisations can have neither environment variables nor connections yet. */
export function createRunSurroundings(store: Store): RunSurroundings {
  return {
    envOf: async () => NONE,
    keysOf: () => ({ platform: () => null, own: async () => null }),
    knowledgeOf: async (orgId) => (await getKnowledge(store.system, orgId))?.content ?? null,
  }
}
