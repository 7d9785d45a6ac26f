package parser
import ("testing";"os";"strings";"fmt";"kvsqld/catalog/sqlerr";"errors")
func TestScratch(t *testing.T){
 b,_:=os.ReadFile("/tmp/q.sql")
 for _,q:=range strings.Split(string(b),"\n"){ if q==""{continue}
  l,err:=Parse(q); if err!=nil{ var e *sqlerr.Error; if errors.As(err,&e){fmt.Printf("ERR %s %s @%d\n   %s\n",e.Code,e.Message,e.Pos,q)};continue}
  _=l
 }
}
func BenchmarkPoint(b *testing.B){ b.ReportAllocs(); for b.Loop(){ Parse("SELECT abalance FROM pgbench_accounts WHERE aid = 12345") } }
