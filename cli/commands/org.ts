import type { Command } from 'commander'
import { z } from 'zod'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { listOrganisations } from '#server/organisation/store/organisations.ts'
import { examples, NewEmail } from '../flags.ts'
import { formatDetails, formatOnce, formatTable } from '../output.ts'
import { inSession } from '../session.ts'

const CreateFlags = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty'),
  adminEmail: NewEmail,
})

export function define(org: Command): void {
  org.addHelpText(
    'after',
    examples('loam org create --name Acme --admin-email ann@example.com', 'loam org list'),
  )

  org
    .command('create')
    .description('Create an organisation with its administrator and an API key with all scopes')
    .requiredOption('--name <text>', 'name of the organisation')
    .requiredOption('--admin-email <address>', 'its first administrator')
    .addHelpText('after', examples('loam org create --name Acme --admin-email ann@example.com'))
    .action(
      inSession(
        CreateFlags,
        async ({ db, config }, flags) => {
          const { orgId, admin, key } = await createOrganisation(db, OPERATOR, {
            ...flags,
            initialCredits: config.LOAM_INITIAL_CREDITS,
          })
          return {
            data: { org_id: orgId, admin_email: admin.email, key },
            text: () =>
              formatDetails(`Created the organisation ${flags.name}`, [
                ['org_id', orgId],
                ['admin', admin.email],
                ['key', formatOnce(key)],
              ]),
          }
        },
        { mayCreate: true },
      ),
    )

  org
    .command('list')
    .description('List the organisations')
    .addHelpText('after', examples('loam org list', 'loam org list --json'))
    .action(
      inSession(z.strictObject({}), async ({ db }) => {
        const organisations = await listOrganisations(db)
        return {
          data: organisations,
          text: () =>
            formatTable(
              ['ORG ID', 'NAME'],
              organisations.map(({ org_id, name }) => [org_id, name]),
              'No organisation yet: start the server once, or use loam org create.',
            ),
        }
      }),
    )
}
