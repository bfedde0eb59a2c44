import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { ListShortcutsQuery, Shortcut } from '#contract/shortcuts.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import type { EstimateServices } from '../../money/routes/dry-runs.ts'
import { listShortcuts } from '../store/shortcuts.ts'
import { viewShortcut } from '../view.ts'
import { mayUseShortcut, SHORTCUT_PREFIXES, shortcutOfPath, ShortcutParams } from './shortcut-resources.ts'
import { shortcutRunRoutes } from './shortcut-runs.ts'

export function shortcutRoutes(api: Api, services: EstimateServices): void {
  for (const prefix of SHORTCUT_PREFIXES) {
    const tags = [prefix === '/apps' ? 'Shortcuts (legacy prefix)' : 'Shortcuts']
    readRoutes(api, prefix, tags)
    shortcutRunRoutes(api, services, { prefix, tags })
  }
}

function readRoutes(api: Api, prefix: string, tags: string[]): void {
  api.get(
    prefix,
    {
      config: { scope: 'shortcuts:read', narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List shortcuts',
        querystring: ListShortcutsQuery,
        response: { 200: success(200, z.array(Shortcut)) },
      },
    },
    async ({ caller, db, query: { filter } }) => {
      const shortcuts = await listShortcuts(db, caller.orgId, caller.memberId)
      const data = shortcuts
        .filter((shortcut) => mayUseShortcut(caller, shortcut))
        .map(viewShortcut)
        .filter(({ is_master }) => filter === 'all' || is_master === (filter === 'master'))
      return ok(data)
    },
  )

  api.get(
    `${prefix}/:id`,
    {
      config: { scope: 'shortcuts:read', narrowedKeys: 'allowed', resource: shortcutOfPath },
      schema: {
        tags,
        summary: 'Get a shortcut with its schemas',
        params: ShortcutParams,
        response: { 200: success(200, Shortcut) },
      },
    },
    async ({ shortcut }) => ok(viewShortcut(shortcut)),
  )
}
