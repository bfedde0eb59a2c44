import { spawn } from 'node:child_process'
import { Agent } from 'undici'
import { createEgress } from './egress.ts'
import { parseEgressAllow } from './egress-addresses.ts'
const child=spawn(process.execPath,['/tmp/egsrv.mjs']); 
const port=await new Promise<string>(r=>child.stdout.on('data',d=>r(String(d).trim())))
  const e=createEgress({allow:parseEgressAllow('127.0.0.1').entries, resolve:async()=>['127.0.0.1']})
  const a=new Agent({allowH2:false})
  const N=10000
  async function run(name:string,f:()=>Promise<unknown>){ let left=N; const t=performance.now(); const c=process.cpuUsage()
    await Promise.all(Array.from({length:50},async()=>{while(left-->0) await f()})); const u=process.cpuUsage(c)
    console.log(name, Math.round(N/(performance.now()-t)*1000)+'/s', ((u.user+u.system)/N).toFixed(0)+'us cpu each') }
  for (let k=0;k<3;k++){
   await run('undici',async()=>{const r=await a.request({origin:`http://127.0.0.1:${port}`,path:'/',method:'GET'}); await r.body.text()})
   await run('egress',()=>e.fetch({url:`http://a.internal:${port}/`}))
   await run('nodefetch',async()=>{const r=await fetch(`http://127.0.0.1:${port}/`); await r.text()})
  }
child.kill(); process.exit()
