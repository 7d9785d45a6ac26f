package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestZZLoad(t *testing.T) {
	b := &lbsBench{t: t, ctx: context.Background(), week: [2]time.Time{time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)}}
	b.places = readPlaces(t)
	kvsqld, pg := os.Getenv("LBS_KVSQLD"), os.Getenv("LBS_PG")
	kp, _ := strconv.Atoi(os.Getenv("LBS_KVSQLD_PID"))
	pp, _ := strconv.Atoi(os.Getenv("LBS_PG_PID"))
	b.pids = map[string]int{kvsqld: kp, pg: pp}
	env := func(n string, d int) int {
		if v, err := strconv.Atoi(os.Getenv(n)); err == nil {
			return v
		}
		return d
	}
	b.seconds = time.Duration(env("Z_SECONDS", 3)) * time.Second
	ahead, clients, km := env("Z_AHEAD", 1), env("Z_CLIENTS", 4), env("Z_KM", 2)
	r := rand.New(rand.NewPCG(1, 2))
	for range 400000 / km / km * 4 {
		p := b.places[r.IntN(len(b.places))]
		p.lat = max(-90, min(90, p.lat+(r.Float64()-0.5)/50))
		p.lon = max(-180, min(180, p.lon+(r.Float64()-0.5)/50))
		b.users = append(b.users, p)
	}
	sys := lbsSystems(kvsqld, pg)
	for _, name := range strings.Split(os.Getenv("Z_SYSTEMS"), ",") {
		for i := range sys {
			s := &sys[i]
			if s.name != name {
				continue
			}
			var askers []*lbsAsker
			for range clients {
				a, err := b.asker(s)
				if err != nil {
					t.Fatal(err)
				}
				askers = append(askers, a)
			}
			var args [][]byte
			for _, u := range b.users {
				m, err := askers[0].encode(b.args(s, u, float64(km*1000)))
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, m)
			}
			own := cpuTime(os.Getpid())
			x, err := b.run(s, askers, args, ahead)
			if err != nil {
				t.Fatal(err)
			}
			own = cpuTime(os.Getpid()) - own
			t.Logf("%-18s clients %d ahead %2d: %7.0f/s  cpu %5.1f µs  client %.1f µs rows %.1f", s.name, clients, ahead, x.perSecond, float64(x.cpu.Nanoseconds())/1000, float64(own.Nanoseconds())/1000/(x.perSecond*b.seconds.Seconds()), x.rows)
			for _, a := range askers {
				a.nc.Close()
			}
		}
	}
}
