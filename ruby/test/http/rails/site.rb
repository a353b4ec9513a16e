# frozen_string_literal: true

ENV["RAILS_ENV"] = "production"
# ActiveSupport 6 takes it that somebody has.
require "logger"
require "rack/mock"
require "rails"
require "action_controller/railtie"
require "redis"
require "polycache/reads"

# A small Rails application, with all middlewares that Rails has by default.
class Site < Rails::Application
  LIST = Polycache::HTTP::Representation.new(JSON.generate((0...1000).to_a))
  ENDPOINT = Polycache::HTTP::Endpoint.new(cache_control: { max_age: "5s" }) do |env|
    range = Polycache::HTTP.stream_range(env["QUERY_STRING"])
    own = env["action_dispatch.request.path_parameters"].slice(:name)
    LIST.within("value", { start: range.start, at: env["SCRIPT_NAME"], **own })
  end

  class << self
    # How often a controller has rendered, and the cached reads of a test.
    attr_accessor :rendered, :reads
  end
  self.rendered = 0

  config.load_defaults "#{Rails::VERSION::MAJOR}.#{Rails::VERSION::MINOR}"
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(nil)
  config.session_store :cookie_store, key: "_site"
  initialize!

  routes.draw do
    get "/endpoint/:name", to: ENDPOINT
    mount ENDPOINT => "/mounted"
    get "/value", to: "values#show"
    get "/within", to: "values#within"
    get "/read/:key", to: "values#read"
    %w[page silent unique format account authorized visit fails matching where].each do |name|
      get "/#{name}", to: "pages##{name == "page" ? "show" : name}"
    end
    get "/events", to: "events#show"
    get "/remember", to: "pages#remember"
    delete "/page", to: "pages#change"
  end
end

# As docs/ruby-http.md says.
module Answers
  def answer(page, **options)
    self.status, fields, self.response_body = page.rack(request.env, **options)
    self.content_type = fields.delete("content-type") if fields.key?("content-type")
    headers.merge!(fields)
  end
end

# Values that are representations.
class ValuesController < ActionController::API
  include Answers

  before_action { head :forbidden if params[:forbidden] }

  def show = answer(Site::LIST, cache_control: params.fetch(:say, "private, max-age=5"))

  def within
    page = Site::LIST.within("value", { at: Site.rendered += 1 }, incidental: params.key?(:tag))
    answer(page, cache_control: "no-cache")
  end

  def read
    page = Site.reads.json.xrange(params[:key], "-", "+")
    answer(page.within("value", { by: Process.pid }, incidental: true), cache_control: "no-cache")
  end
end

# Pages that Rails renders, with sessions and cookies.
class PagesController < ActionController::Base
  skip_forgery_protection only: :change

  def show
    expires_in 60, public: true
    said("page")
  end

  # Without a word on caching: Rails says `private`.
  def silent = said("silent")

  def unique
    expires_in 60, public: true
    said(SecureRandom.uuid)
  end

  def format
    expires_in 60, public: true
    respond_to do |form|
      form.html { said("text") }
      form.json { render json: { form: "json" } }
    end
  end

  def account
    expires_in 60, public: true
    said("account of #{session[:user] || cookies[:user] || "nobody"}")
  end

  def authorized
    expires_in 60, public: true
    said("for #{request.authorization || "nobody"}")
  end

  def visit
    expires_in 60, public: true
    session[:user] = params[:user]
    said("welcome, #{params[:user]}")
  end

  def fails
    expires_in 60, public: true
    raise "a secret"
  end

  def matching
    expires_in 60, public: true
    said("matching") if stale?(etag: "v1", public: true)
  end

  def where
    expires_in 60, public: true
    said(request.url)
  end

  def remember
    cookies[:user] = params[:user]
    head :no_content
  end

  def change = head(:no_content)

  private

  def said(text)
    Site.rendered += 1
    render plain: text
  end
end

# An answer that goes on for as long as its client listens.
class EventsController < ActionController::Base
  include ActionController::Live

  def show
    response.headers["Content-Type"] = "text/event-stream"
    response.headers["Last-Modified"] = Time.now.httpdate
    2.times { |number| response.stream.write("data: #{number}\n\n") }
  ensure
    response.stream.close
  end
end
