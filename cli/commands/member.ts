import type { Command } from 'commander'
import { z } from 'zod'
import { ROLES } from '#contract/scopes.ts'
import { addMember } from '#server/organisation/members.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { listMembers } from '#server/organisation/store/members.ts'
import { examples, NewEmail, Org } from '../flags.ts'
import { formatTable } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'

const AddFlags = z.strictObject({
  org: Org,
  email: NewEmail,
  role: z.enum(ROLES, `must be one of: ${ROLES.join(', ')}`),
})

export function define(member: Command): void {
  member.addHelpText(
    'after',
    examples('loam member add --email bob@example.com --role member', 'loam member list'),
  )

  member
    .command('add')
    .description('Add a member who joins at once, without an invitation')
    .option('--org <org_id>', 'organisation; required if there are several')
    .requiredOption('--email <address>', 'the new member')
    .requiredOption('--role <role>', ROLES.join(', '))
    .addHelpText('after', examples('loam member add --email bob@example.com --role member'))
    .action(
      inSession(AddFlags, async ({ db, config }, { org, email, role }) => {
        const organisation = await resolveOrganisation(db, { org })
        const limit = config.LOAM_MEMBER_LIMIT
        const added = await addMember(db, OPERATOR, organisation.org_id, {
          invite: { email, role },
          memberLimit: limit,
        })
        return {
          data: { email: added.email, role: added.role },
          text: () => `${added.email} is now ${added.role} of ${organisation.name}.`,
        }
      }),
    )

  member
    .command('list')
    .description('List the members of an organisation')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam member list', 'loam member list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const members = await listMembers(db, org_id)
        return {
          data: members.map(({ email, role, first_name, last_name }) => ({
            email,
            role,
            first_name,
            last_name,
          })),
          text: () =>
            formatTable(
              ['EMAIL', 'ROLE', 'NAME'],
              members.map(({ email, role, first_name, last_name }) => [
                email,
                role,
                [first_name, last_name].filter((part) => part !== null).join(' '),
              ]),
              'No members.',
            ),
        }
      }),
    )
}
