import type { z } from 'zod'
import type { EndStatus, Shortcut, ShortcutRun } from '#contract/shortcuts.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import type { ShortcutRunRecord } from './store/shortcut-runs.ts'
import type { ShortcutRecord } from './store/shortcuts.ts'

export type ShortcutView = z.infer<typeof Shortcut>

/** The status of a run that has not ended. */
export type Progress = Exclude<ShortcutRun['status'], EndStatus>

/**
 * Returns a shortcut in the form of the API, with the fields of each entry in the order of the specification.
 */
export function viewShortcut(shortcut: ShortcutRecord): ShortcutView {
  return {
    id: shortcut.shortcut_id,
    workflow_id: shortcut.workflow_id,
    parent_app_id: shortcut.parent_id,
    name: shortcut.name,
    description: shortcut.description,
    creator_email: shortcut.creator_email,
    org_id: shortcut.org_id,
    input_schema: shortcut.inputs.map(({ reference, name, description, type, required, defaultValue }) => ({
      reference,
      name,
      ...(description === undefined ? {} : { description }),
      type,
      ...(required === undefined ? {} : { required }),
      ...(defaultValue === undefined ? {} : { defaultValue }),
    })),
    output_schema: shortcut.outputs.map(({ name, description, display_column }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(display_column === undefined ? {} : { display_column }),
    })),
    is_master: shortcut.parent_id === null,
    is_published: shortcut.is_published,
    is_archived: shortcut.is_archived,
    cover_image: shortcut.cover_image,
    icon_emoji: shortcut.icon_emoji,
    created_at: shortcut.created_at.toISOString(),
    updated_at: shortcut.updated_at.toISOString(),
  }
}

/** Returns a run in the form of the API. `progress` is only used until the end of the run is recorded. */
export function viewShortcutRun(run: ShortcutRunRecord, progress: Progress): ShortcutRun {
  return {
    id: run.shortcut_run_id,
    app_id: run.shortcut_id,
    workflow_id: run.workflow_id,
    data_id: run.row_id,
    user_email: run.user_email,
    org_id: run.org_id,
    batch_id: run.batch_id,
    input_data: parseLossless(run.input_data),
    output_data: run.output_data === null ? null : parseLossless(run.output_data),
    status: run.status ?? progress,
    error_message: run.error_message,
    created_at: run.created_at.toISOString(),
    completed_at: run.completed_at?.toISOString() ?? null,
  }
}
