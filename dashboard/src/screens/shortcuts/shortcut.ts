import type { z } from 'zod'
import type { Shortcut as ShortcutSchema } from '#contract/shortcuts.ts'

export type Shortcut = z.infer<typeof ShortcutSchema>

/** Returns true if the shortcut is published and not archived. */
export const canBeRun = ({ is_archived, is_published }: Shortcut) => is_published && !is_archived

export function describeState({ is_archived, is_published, is_master }: Shortcut): string {
  if (is_archived) return 'archived'
  if (!is_published) return 'unpublished'
  return is_master ? 'published' : 'shared with you'
}
