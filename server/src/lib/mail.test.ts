import type { SMTPServerOptions } from 'smtp-server'
import { expect, it } from 'vitest'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { serveSmtp } from '#test/doubles/mail-server.ts'
import { createMailer, type SendMail } from './mail.ts'

/** Starts a real mail server and creates a sender for it. */
async function serveMail(options: SMTPServerOptions = {}, login = '') {
  const { url, received } = await serveSmtp(options, login)
  return { send: mailer(url), received }
}

function mailer(url: string): SendMail {
  const send = createMailer({ url, from: 'Loam <loam@example.com>' })
  if (send === null) throw new Error('there is a mail server, and no sender for it')
  return send
}

const mail = { to: 'new@example.com', subject: 'Hello', text: 'One line.\n\n.\nAnother line.' }

it('D48: without a mail server there is no sender', () => {
  expect(createMailer({ url: undefined, from: 'loam@example.com' })).toBeNull()
})

it('a mail arrives whole, from the sender of the settings', async () => {
  const { send, received } = await serveMail()
  await send(mail)
  expect(received).toEqual([{ from: 'loam@example.com', to: ['new@example.com'], text: expect.any(String) }])
  expect(received[0]?.text).toMatch(/^From: Loam <loam@example\.com>\r$/m)
  expect(received[0]?.text).toMatch(/\r\n\r\nOne line\.\r\n\r\n\.\r\nAnother line\.\r\n$/)
})

it('a line break in the subject does not become a header or a recipient', async () => {
  const { send, received } = await serveMail()
  await send({ ...mail, subject: 'Hi\r\nBcc: victim@example.com\r\n\r\nbody' })
  expect(received[0]?.to).toEqual(['new@example.com'])
  expect(received[0]?.text).not.toMatch(/^Bcc:/im)
})

it('an address goes to one mailbox only, whatever it looks like', async () => {
  const { send, received } = await serveMail()
  await Promise.allSettled([send({ ...mail, to: 'a@example.com, victim@example.com' })])
  expect(received.flatMap(({ to }) => to)).not.toContain('victim@example.com')
})

it('user and password of LOAM_SMTP_URL log in', async () => {
  const seen: unknown[] = []
  const { send, received } = await serveMail(
    {
      onAuth({ username, password }, _session, done) {
        seen.push([username, password])
        done(null, { user: username })
      },
    },
    'post%40example.com:p%3Ass%2Fword@',
  )
  await send(mail)
  expect(seen).toEqual([['post@example.com', 'p:ss/word']])
  expect(received).toHaveLength(1)
})

it('a refusal rejects with the reason of the mail server', async () => {
  const { send } = await serveMail({
    onRcptTo: (_address, _session, done) => done(new Error('no such mailbox here')),
  })
  await expect(send(mail)).rejects.toThrow('no such mailbox here')
})

it('a mail server that is not there rejects', async () => {
  const { origin, close } = await serveRaw(() => undefined)
  await close()
  await expect(mailer(origin.replace('http', 'smtp'))(mail)).rejects.toThrow('ECONNREFUSED')
})

it('a mail server that says nothing is given up within seconds', async () => {
  const { origin } = await serveRaw(() => undefined)
  const start = Date.now()
  await expect(mailer(origin.replace('http', 'smtp'))(mail)).rejects.toThrow(/greeting/i)
  expect(Date.now() - start).toBeLessThan(25_000)
})
