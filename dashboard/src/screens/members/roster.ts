import type { z } from 'zod'
import type { Roster as RosterSchema } from '#contract/settings.ts'

export type Roster = z.infer<typeof RosterSchema>
