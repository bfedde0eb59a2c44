import { success } from '#contract/envelope.ts'
import { ShortcutVersions } from '#contract/screens.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { notFound } from '../../../lib/errors.ts'
import { requireWorkflow } from '../../../sheets/routes/workflows/resources.ts'
import { findDefinition } from '../../../sheets/store/definitions.ts'
import { findSheet } from '../../../sheets/store/sheets.ts'
import { listVersions } from '../../store/shortcuts.ts'
import { describeActionChanges, describeVersions } from '../../version-changes.ts'
import { viewShortcut } from '../../view.ts'
import { shortcutOfPath, ShortcutParams } from '../shortcut-resources.ts'

const SHOWN_VERSIONS = 20

/**
 * Adds the endpoint that lists what each version of a shortcut changed, and the changes of the workflow
 * since.
 */
export function shortcutVersionRoutes(api: Api): void {
  api.get(
    '/shortcuts/:id/versions',
    {
      config: { scope: 'workflows:read', resource: shortcutOfPath },
      schema: { params: ShortcutParams, response: { 200: success(200, ShortcutVersions) } },
    },
    async (request) => {
      const { db, caller, shortcut } = request
      // The changes show the settings of actions, so only members who may open the workflow see them.
      await requireWorkflow(request, shortcut.workflow_id)
      const sheet = await findSheet(db, caller.orgId, shortcut.workflow_id)
      if (sheet === undefined) throw notFound('Workflow')
      const master = { org_id: caller.orgId, shortcut_id: shortcut.parent_id ?? shortcut.shortcut_id }
      const found = await listVersions(db, master, SHOWN_VERSIONS + 1)
      const { org_id, sheet_id } = sheet
      const read = (revision: number) => findDefinition(db, { org_id, sheet_id, revision })
      const changes: string[][] = []
      for await (const lines of describeVersions(found, read)) changes.push(lines)
      const versions = found.slice(0, SHOWN_VERSIONS).map((version, place) => ({
        version: version.version,
        revision: version.revision,
        created_by: version.created_by,
        created_at: version.created_at.toISOString(),
        changes: changes[place] ?? [],
      }))
      const published = found[0] === undefined ? undefined : await read(found[0].revision)
      return ok({
        inputs: viewShortcut(shortcut).input_schema,
        outputs: shortcut.outputs,
        unpublished: describeActionChanges(published, await findDefinition(db, sheet)),
        versions,
      })
    },
  )
}
