import { assert, constantFrom, ipV4, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MALFORMED_ADDRESSES, PUBLIC_ADDRESSES, REFUSED_ADDRESSES } from '#test/guards/ssrf-addresses.ts'
import { describeNonPublic, describeRefusal, parseEgressAllow } from './addresses.ts'

describe('an address that is not publicly reachable unicast is refused', () => {
  for (const [group, addresses] of Object.entries(REFUSED_ADDRESSES)) {
    it.each(addresses)(`${group}: %s`, (address) => {
      expect(describeNonPublic(address)).toMatch(/^an? .*address/)
    })
  }

  it.each(MALFORMED_ADDRESSES)('malformed: "%s"', (text) => {
    expect(describeNonPublic(text)).toBe('no IP address')
  })

  it('judges a NAT64 address by the IPv4 address it leads to', () => {
    assert(
      property(ipV4(), (address) => {
        expect(describeNonPublic(`64:ff9b::${address}`)).toBe(describeNonPublic(address))
      }),
    )
  })

  it('refuses IPv4 in every other IPv6 wrapping', () => {
    assert(
      property(
        ipV4(),
        constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b:1::', '2002::', '2001::'),
        (address, prefix) => {
          expect(describeNonPublic(prefix + address)).not.toBeNull()
        },
      ),
    )
  })
})

it.each(PUBLIC_ADDRESSES)('a public address is reachable: %s', (address) => {
  expect(describeNonPublic(address)).toBeNull()
  expect(describeRefusal([], { host: 'a.example', port: 443 }, address)).toBeNull()
})

describe('LOAM_EGRESS_ALLOW (D55)', () => {
  it.each([
    // entry, host, port, address, allowed
    ['searx.internal', 'searx.internal', 80, '10.0.0.5', true],
    ['searx.internal', 'searx.internal', 8080, '169.254.169.254', true],
    ['searx.internal', 'searx.internal.', 80, '10.0.0.5', true],
    ['Searx.Internal.', 'searx.internal', 80, '10.0.0.5', true],
    ['searx.internal', 'other.internal', 80, '10.0.0.5', false],
    ['searx.internal', 'a.searx.internal', 80, '10.0.0.5', false],
    ['searx.internal', '10.0.0.5', 80, '10.0.0.5', false],
    ['searx.internal:8080', 'searx.internal', 8080, '10.0.0.5', true],
    ['searx.internal:8080', 'searx.internal', 80, '10.0.0.5', false],
    ['localhost:11434', 'localhost', 11434, '::1', true],
    ['bücher.internal', 'xn--bcher-kva.internal', 80, '10.0.0.5', true],
    ['my_host', 'my_host', 80, 'fe80::1%eth0', true],
    ['10.0.0.0/8', '10.255.255.255', 80, '10.255.255.255', true],
    ['10.0.0.0/8', 'any.internal', 80, '10.1.2.3', true],
    ['10.0.0.0/8', '11.0.0.1', 80, '127.0.0.1', false],
    ['10.0.0.0/8:8080', '10.1.2.3', 8080, '10.1.2.3', true],
    ['10.0.0.0/8:8080', '10.1.2.3', 8081, '10.1.2.3', false],
    ['10.0.0.0/8', 'x', 80, '::ffff:10.1.2.3', false],
    ['10.0.0.0/8', 'x', 80, '64:ff9b::10.1.2.3', false],
    ['0.0.0.0/0', 'x', 80, '127.0.0.1', true],
    ['0.0.0.0/0', 'x', 80, '::1', false],
    ['10.1.2.3', 'x', 80, '10.1.2.3', true],
    ['10.1.2.3', 'x', 80, '10.1.2.4', false],
    ['10.1.2.3:443', 'x', 443, '10.1.2.3', true],
    ['10.1.2.3:443', 'x', 80, '10.1.2.3', false],
    ['fd00::/8', 'x', 80, 'fd12::1', true],
    ['fd00::/8', 'x', 80, 'fc12::1', false],
    ['fe80::/10', 'x', 80, 'fe80::1%eth0', false],
    ['[fd00::/8]:443', 'x', 443, 'fd12::1', true],
    ['[fd00::/8]:443', 'x', 80, 'fd12::1', false],
    ['fd00::1', 'x', 80, 'fd00:0:0::1', true],
    ['::1', 'localhost', 80, '::1', true],
    ['[::1]', 'localhost', 80, '::1', true],
    ['[::1]:8080', '::1', 8080, '::1', true],
    ['[::1]:8080', '::1', 8081, '::1', false],
    ['::ffff:127.0.0.1', 'x', 80, '::ffff:7f00:1', true],
    ['', 'localhost', 80, '127.0.0.1', false],
  ] as const)('"%s": %s, port %i at %s is allowed: %s', (text, host, port, address, allowed) => {
    const { entries, errors } = parseEgressAllow(text)
    expect(errors).toEqual([])
    expect(describeRefusal(entries, { host, port }, address) === null).toBe(allowed)
  })

  it('separates entries by commas and spaces', () => {
    expect(parseEgressAllow(' a.internal, b:1\t10.0.0.0/8 ,,\n[::1]:2 ')).toMatchObject({
      entries: [
        { kind: 'host', host: 'a.internal' },
        { kind: 'host', host: 'b', port: 1 },
        { kind: 'range', bits: 8 },
        { kind: 'range', bits: 128, port: 2 },
      ],
      errors: [],
    })
  })

  it.each([
    ['http://searx.internal/', 'is a URL; give only its host, or host:port'],
    ['*.internal', 'has a wildcard; name each host, or give a CIDR'],
    ['10.0.0.0/33', 'has a wrong prefix length; it must be 0 to 32'],
    ['10.0.0.0/', 'has a wrong prefix length; it must be 0 to 32'],
    ['10.0.0.0/x', 'has a wrong prefix length; it must be 0 to 32'],
    ['10.0.0.0/-1', 'has a wrong prefix length; it must be 0 to 32'],
    ['fd00::/129', 'has a wrong prefix length; it must be 0 to 128'],
    ['10.1.2.3/8', 'has bits beyond its prefix; write 10.0.0.0/8'],
    ['fd00::1/8', 'has bits beyond its prefix; write fd00::/8'],
    ['10.0.0/8', 'is no range; write it like 10.0.0.0/8 or fd00::/8'],
    ['internal/8', 'is no range; write it like 10.0.0.0/8 or fd00::/8'],
    ['010.0.0.0/8', 'is no range; write it like 10.0.0.0/8 or fd00::/8'],
    ['10.0.0.1/8/8', 'has a wrong prefix length; it must be 0 to 32'],
    ['127.1', 'is an address in a short form; write 127.0.0.1'],
    ['0x7f000001', 'is an address in a short form; write 127.0.0.1'],
    ['127.0.0.256', 'is no host name'],
    ['host:0', 'has a wrong port; it must be 1 to 65535'],
    ['host:65536', 'has a wrong port; it must be 1 to 65535'],
    ['host:', 'has a wrong port; it must be 1 to 65535'],
    ['host:http', 'has a wrong port; it must be 1 to 65535'],
    ['[::1]:', 'has a wrong port; it must be 1 to 65535'],
    ['host:80:80', 'is no host, host:port, address or CIDR; an IPv6 port is written [fd00::1]:443'],
    ['[::1', 'is no host, host:port, address or CIDR; an IPv6 port is written [fd00::1]:443'],
    ['[fd00::]/8', 'is no host, host:port, address or CIDR; an IPv6 port is written [fd00::1]:443'],
    ['[host]:80', 'has brackets around something that is not IPv6'],
    ['[127.0.0.1]', 'has brackets around something that is not IPv6'],
    ['fe80::1%eth0', 'is no range; write it like 10.0.0.0/8 or fd00::/8'],
    ['user@host', 'is no host name'],
    ['host?', 'is no host name'],
    ['host#x', 'is no host name'],
    ['a..b', 'is no host name'],
    ['..', 'is no host name'],
  ])('has one clear line for a wrong entry: "%s"', (text, line) => {
    expect(parseEgressAllow(`good.internal,${text}`)).toEqual({
      entries: [{ kind: 'host', host: 'good.internal' }],
      errors: [`"${text}" ${line}`],
    })
  })
})
