import { expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'

const app = await makeApp()

it('GET /user/ answers the caller with the organisation roster sorted by address', async () => {
  const org = await app.makeOrg()
  await org.keyFor('zoe@example.com', 'member')
  await org.keyFor('bob@example.com', 'user')
  const answer = await org.call('GET', '/user/')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    status: 200,
    data: {
      email: org.adminEmail,
      first_name: null,
      last_name: null,
      role: 'admin',
      org_id: org.orgId,
      org_members: { count: 3, emails: [org.adminEmail, 'bob@example.com', 'zoe@example.com'] },
    },
  })
})
